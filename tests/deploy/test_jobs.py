import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.client import Client

from tests.deploy.stack import ROOT, SCRIPTS
from workers.embedded_server import RETENTION
from workers.runtime import shared_runtime
from workers.search_attributes import SEARCH_ATTRIBUTES, missing_search_attributes
from workers.server_ports import HOST, free_port
from workers.tuning import dynamic_configuration_flags

pytestmark = pytest.mark.slow

SYSTEM_PATH = "/usr/bin:/bin"


@dataclass(frozen=True)
class Server:
    """A real server of the stack's version, with the stack's tuning."""

    port: int
    log: Path
    process: subprocess.Popen[bytes]

    def listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port)) == 0


def start_server(log: Path) -> Server:
    port = free_port()
    place = ["--headless", "--ip", HOST, "--port", str(port)]
    logging = ["--log-level", "warn", "--log-format", "json"]
    command = [SCRIPTS / "temporal", "server", "start-dev", *place, *logging, *dynamic_configuration_flags()]
    with log.open("wb") as output:
        return Server(port, log, subprocess.Popen(command, stdout=output, stderr=output))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_server(tmp_path_factory.mktemp("server") / "log")
    give_up = time.monotonic() + 30
    try:
        while not server.listens():
            assert time.monotonic() < give_up, server.log.read_text()
            time.sleep(0.02)
        yield server
    finally:
        server.process.terminate()
        server.process.wait(timeout=30)


def run_job(script: str, **environment: str) -> str:
    done = subprocess.run(
        ["/bin/sh", ROOT / "deploy" / script],
        env={"PATH": SYSTEM_PATH, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def retention(server: Server, namespace: str) -> str:
    described = [SCRIPTS / "temporal", "operator", "namespace", "describe", "--namespace", namespace]
    at = ["--address", f"{HOST}:{server.port}", "--output", "json"]
    shown = subprocess.run([*described, *at], stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(shown.stdout)["config"]["workflowExecutionRetentionTtl"]


async def missing(server: Server, namespace: str) -> dict[str, int]:
    client = await Client.connect(f"{HOST}:{server.port}", namespace=namespace, runtime=shared_runtime())
    return dict(await missing_search_attributes(client))


@pytest.mark.parametrize(
    "namespace",
    [
        pytest.param("agents", id="a namespace that is not there yet"),
        pytest.param("default", id="one that is there and keeps histories for a day"),
    ],
)
async def test_the_namespace_job_makes_it_what_the_embedded_servers_is_however_often_it_runs(
    server: Server, namespace: str, tmp_path: Path
) -> None:
    for _ in range(2):
        run_job(
            "create-namespace.sh",
            PATH=f"{SCRIPTS}:{SYSTEM_PATH}",
            HOME=str(tmp_path),
            TEMPORAL_ADDRESS=f"passthrough:///{HOST}:{server.port}",
            NAMESPACE=namespace,
            RETENTION="2160h",
        )
    assert retention(server, namespace) == f"{RETENTION.total_seconds():.0f}s"
    assert await missing(server, namespace) == {}


def test_the_namespace_job_creates_the_search_attributes_of_the_one_definition_and_no_other() -> None:
    script = (ROOT / "deploy/create-namespace.sh").read_text()
    created = dict(re.findall(r"(Surefoot\w+):(\w+)", script))
    defined = {
        name: IndexedValueType.Name(kind).removeprefix("INDEXED_VALUE_TYPE_").title().replace("_", "")
        for name, kind in SEARCH_ATTRIBUTES.items()
    }
    assert created == defined


def test_the_server_refuses_no_value_that_it_reads_at_start(server: Server) -> None:
    assert [line for line in server.log.read_text().splitlines() if "convert value" in line] == []


def test_the_schema_job_brings_both_databases_up_in_order(tmp_path: Path) -> None:
    tool = tmp_path / "temporal-sql-tool"
    tool.write_text('#!/bin/sh\necho "$*"\n')
    tool.chmod(0o755)
    versions = "/etc/temporal/schema/postgresql/v12"
    assert run_job("create-schema.sh", PATH=f"{tmp_path}:{SYSTEM_PATH}").splitlines() == [
        "--db temporal create",
        "--db temporal setup-schema -v 0.0",
        f"--db temporal update-schema -d {versions}/temporal/versioned",
        "--db temporal_visibility create",
        "--db temporal_visibility setup-schema -v 0.0",
        f"--db temporal_visibility update-schema -d {versions}/visibility/versioned",
    ]


def test_the_schema_job_fails_with_its_first_failing_step(tmp_path: Path) -> None:
    tool = tmp_path / "temporal-sql-tool"
    tool.write_text('#!/bin/sh\necho "$*"\n[ "$3" != setup-schema ]\n')
    tool.chmod(0o755)
    job = subprocess.run(
        ["/bin/sh", ROOT / "deploy/create-schema.sh"],
        env={"PATH": f"{tmp_path}:{SYSTEM_PATH}"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (job.returncode, job.stdout.splitlines()[-1]) == (1, "--db temporal setup-schema -v 0.0")
