import asyncio
import signal
from datetime import timedelta
from pathlib import Path

from workers.embedded_server import embedded_server
from workers.server_process import find_server
from workers.server_watch import keep_up
from workers.settings import Settings
from workers.waiting import until


async def test_a_server_that_ends_is_started_again_where_it_was_until_nobody_watches(tmp_path: Path) -> None:
    settings = Settings(state_directory=tmp_path / "state")
    database = settings.state_directory / "temporal.db"
    async with embedded_server(settings) as server:
        watching = asyncio.create_task(keep_up(server, settings))
        server.process.send(signal.SIGKILL)
        await until(server.process.is_gone, within=timedelta(seconds=5))
        again = await until(lambda: find_server(database), within=timedelta(seconds=20))
        watching.cancel()
        await asyncio.wait({watching})

    assert again.ports == server.process.ports
    assert find_server(database) is None
