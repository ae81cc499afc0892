"""Records scenarios: plays each on a real server of its own and keeps the history."""

import tempfile
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from temporalio.client import Client, WorkflowExecutionStatus

from surefoot.testing.replay import chain_of
from tests.replay.history_file import IDENTITY, file_of, write
from tests.replay.scenarios import SCENARIOS
from tests.replay.stage import Stage
from workers.embedded_server import embedded_server
from workers.runtime import shared_runtime
from workers.server_ports import free_port
from workers.settings import Settings
from workflows.converter import DATA_CONVERTER


async def record(names: Iterable[str], folder: Path) -> AsyncGenerator[tuple[str, int]]:
    """Write the histories of these scenarios to a folder; gives each one's name and size in bytes."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        settings = Settings(state_directory=directory / "state")
        async with embedded_server(settings, port=free_port(), ui_port=free_port()) as server:
            client = await Client.connect(
                server.address,
                namespace=server.namespace,
                data_converter=DATA_CONVERTER,
                runtime=shared_runtime(),
                identity=IDENTITY,
            )
            for name in names:
                yield name, await _record(Stage(name, client, directory / name), folder)


async def _record(stage: Stage, folder: Path) -> int:
    stage.directory.mkdir()
    await SCENARIOS[stage.name](stage)
    run = stage.client.get_workflow_handle(stage.name)
    if (await run.describe()).status == WorkflowExecutionStatus.RUNNING:
        raise RuntimeError(f"the run of {stage.name} has not ended")
    size_bytes = 0
    for part, history in enumerate(await chain_of(stage.client, stage.name), 1):
        file = file_of(stage.name, part=part, folder=folder)
        write(history, file, machine=(stage.directory,))
        size_bytes += file.stat().st_size
    return size_bytes
