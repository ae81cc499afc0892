"""MCP servers of a test, and calls of their tools as an executor makes them."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.store.directory import DirectoryStore
from activities.tools.artifacts import Artifacts
from activities.tools.executor import ToolExecutor
from activities.tools.mcp.loading import McpFile, tools_of_mcp
from activities.tools.mcp.tool import McpTool
from activities.tools.problem import Problem
from surefoot.outcome import ToolFailure, ToolSuccess

ROGUE = Path(__file__).with_name("rogue_server.py")
ENVIRONMENT = {"PATH": os.environ["PATH"], "SECRET": "key"}


def rogue(mode: str = "", **more: object) -> dict[str, Any]:
    """Configure a server that misbehaves."""
    return {"command": sys.executable, "args": ["-IS", str(ROGUE), mode], **more}


def config(directory: Path, **servers: object) -> Path:
    """Write the file that names these servers."""
    file = directory / "servers.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return file


def load(file: Path) -> tuple[dict[str, McpTool], list[Problem]]:
    """Give the tools by name, and the problems."""
    found = list(tools_of_mcp(McpFile(file), environment=ENVIRONMENT))
    tools = [one for one in found if not isinstance(one, Problem)]
    return {one.definition.name: one for one in tools}, [one for one in found if isinstance(one, Problem)]


@dataclass
class Calls:
    """Makes calls, each with an id of its own."""

    executor: ToolExecutor
    made: int = 0

    async def __call__(
        self, tool: str, params: dict[str, JsonValue] | None = None, *, seconds: float = 20
    ) -> ToolSuccess | ToolFailure:
        self.made += 1
        call = ToolCallInput(
            tool=tool, params=params or {}, call_id=f"run/1-{self.made}", timeout_seconds=seconds
        )
        return await asyncio.wait_for(self.executor.run(call), 60)

    async def text(self, tool: str, params: dict[str, JsonValue] | None = None) -> str:
        """Give the text of a result that has no other content."""
        outcome = await self(tool, params)
        assert isinstance(outcome, ToolSuccess), outcome
        result: Any = outcome.result
        return result["content"][0]["text"]


@asynccontextmanager
async def calling(directory: Path, **servers: object) -> AsyncGenerator[Calls]:
    """Have an executor for the tools of these servers."""
    tools, problems = await asyncio.to_thread(load, config(directory, **servers))
    assert not problems, problems
    artifacts = Artifacts(DirectoryStore(directory / "store"))
    executor = ToolExecutor(tools, directory, ENVIRONMENT, artifacts)
    try:
        yield Calls(executor)
    finally:
        await executor.close()


ENDPOINT = Path(__file__).with_name("rogue_endpoint.py")


@contextmanager
def endpoint(directory: Path) -> Generator[str]:
    """Have a server over HTTP that misbehaves; gives its URL."""
    process = subprocess.Popen(
        [sys.executable, "-IS", ENDPOINT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=directory,
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.communicate()
