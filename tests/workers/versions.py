"""Versions of workers, for tests: connections of their own, and the command that makes one current."""

import asyncio
import re
import shlex
from asyncio.subprocess import DEVNULL
from pathlib import Path
from sysconfig import get_path

from temporalio.client import Client

from workers.runtime import shared_runtime
from workflows.converter import DATA_CONVERTER

VERSIONING = (Path(__file__).parents[2] / "docs" / "versioning.md").read_text(encoding="utf-8")


async def of_worker(client: Client, identity: str) -> Client:
    """Give a connection of its own to a worker: two workers cannot serve one queue on one."""
    return await Client.connect(
        client.service_client.config.target_host,
        namespace=client.namespace,
        data_converter=DATA_CONVERTER,
        runtime=shared_runtime(),
        identity=identity,
    )


async def make_current(client: Client, deployment: str, build_id: str) -> None:
    """Run the command of the documentation until the server knows the version by its workers."""
    (line,) = re.findall(rf"^ *(temporal worker .*--build-id {build_id} .*)$", VERSIONING, re.MULTILINE)
    command, *arguments = shlex.split(line.replace("agents", deployment))
    program = Path(get_path("scripts")) / command
    address = client.service_client.config.target_host
    async with asyncio.timeout(30):
        while await _exit_code(program, *arguments, "--address", address):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _exit_code(program: Path, *arguments: str) -> int:
    process = await asyncio.create_subprocess_exec(program, *arguments, stdout=DEVNULL, stderr=DEVNULL)
    return await process.wait()
