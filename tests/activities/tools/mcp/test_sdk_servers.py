"""Servers that are written with the SDK, as most are."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from surefoot.outcome import ToolSuccess
from tests.activities.tools.mcp.servers import calling, config, load

pytestmark = pytest.mark.slow

SERVER = Path(__file__).with_name("library_server.py")


@pytest.fixture
def url(tmp_path: Path) -> Generator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, SERVER, str(port)], stdout=log, stderr=log)
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


async def test_a_server_of_the_sdk_is_used_over_both_transports(tmp_path: Path, url: str) -> None:
    servers = {
        "pipe": {"command": sys.executable, "args": [str(SERVER)]},
        "web": {"type": "http", "url": url},
    }
    async with calling(tmp_path, **servers) as call:
        outcomes = [
            await call(f"{server}__{tool}", {"name": name})
            for server in servers
            for tool, name in (("find_book", "moby"), ("lend", "moby"), ("lend", "ulysses"))
        ]
        tools, _ = await asyncio.to_thread(load, config(tmp_path, web=servers["web"]))
    results = [one.result for one in outcomes if isinstance(one, ToolSuccess)]
    assert results == 2 * [
        {"title": "Moby-Dick", "copies": 2},
        {"content": [{"type": "text", "text": "Here is Moby-Dick."}]},
        {"error": "Error executing tool lend"},
    ]
    found = tools["web__find_book"].definition
    assert (found.description, found.annotations.read_only_hint, found.properties["name"]) == (
        "Find a book.",
        True,
        {"title": "Name", "type": "string", "description": "A short name."},
    )
