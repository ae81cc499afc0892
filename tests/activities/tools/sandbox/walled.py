"""Calls of tools behind the walls of each level that this machine offers."""

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.tools.artifacts import Artifacts
from activities.tools.executor import ToolExecutor
from activities.tools.sandbox.level import Level
from activities.tools.sandbox.probe import why_not
from activities.tools.sandbox.sandbox import Sandbox
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import found, write_tool

ANSWER = "echo '\"done\"'\n"
"""Shell: a valid answer."""


def at(*levels: Level) -> pytest.MarkDecorator:
    """Run a test at each of these levels; those that this machine does not have are told of."""
    marks = {
        level: pytest.mark.skipif(why_not(level) is not None, reason=str(why_not(level))) for level in levels
    }
    return pytest.mark.parametrize("level", [pytest.param(level, marks=marks[level]) for level in levels])


@dataclass
class Place:
    """A directory with tools, a working directory and a home, each beside the others."""

    root: Path
    level: Level
    hidden: tuple[Path, ...] = ()
    visible: tuple[Path, ...] = ()
    artifacts: Artifacts | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str])

    run: str = field(default_factory=lambda: f"run-{secrets.token_hex(4)}")
    """No other test's: what a dead supervisor leaves is found, and ended, by the name of its call."""

    def __post_init__(self) -> None:
        for name in ("work", "home"):
            (self.root / name).mkdir(exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), **self.environment}

    @property
    def call_id(self) -> str:
        return f"{self.run}/1-1"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def executor(self, tools: Path | None = None) -> ToolExecutor:
        sandbox = Sandbox(self.level, self.hidden, self.visible)
        usable = found(self.root / "tools" if tools is None else tools)
        return ToolExecutor(usable, self.work, self.environment, self.artifacts, sandbox)

    async def call(
        self,
        script: str,
        *,
        network: bool | None = None,
        seconds: float = 20,
        tools: Path | None = None,
        **manifest: JsonValue,
    ) -> ToolSuccess | ToolFailure:
        """Write a tool with this script, of a shell unless it says so, and call it."""
        text = script if script.startswith("#!") else f"#!/bin/sh\n{script}\n"
        write_tool(self.root / "tools" if tools is None else tools, "tool", text, mode=0o755, **manifest)
        call = ToolCallInput(
            tool="tool", params={}, call_id=self.call_id, timeout_seconds=seconds, network=network
        )
        return await self.executor(tools).run(call)

    async def stderr_of(self, command: str, *, tools: Path | None = None) -> str:
        """Run a command that must fail, and give what it complains of."""
        outcome = await self.call(f"{command} && exit 0; exit 9", tools=tools)
        assert isinstance(outcome, ToolFailure), outcome
        assert outcome.exit_code == 9, outcome
        return outcome.stderr
