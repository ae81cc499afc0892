import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from workers.embedded_server import embedded_server
from workers.server_ports import free_port
from workers.server_process import find_server
from workers.settings import Settings
from workers.waiting import until


async def test_the_core_complains_to_the_log_and_not_amid_the_results(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    # On ports of its own: on the usual ones, another test's server might answer in its place.
    settings = Settings(state_directory=tmp_path)
    async with embedded_server(settings, port=free_port(), ui_port=free_port()) as server:
        killed = find_server(tmp_path / "temporal.db")
        assert killed
        killed.send(signal.SIGKILL)
        await until(killed.is_gone, within=timedelta(seconds=5))
        unanswered = asyncio.create_task(server.client.get_workflow_handle("any").describe())
        await until(lambda: caplog.records, within=timedelta(seconds=20))
        unanswered.cancel()

    assert {(record.name, record.levelname) for record in caplog.records} == {("temporalio.core", "WARNING")}
    assert capfd.readouterr().out == ""
