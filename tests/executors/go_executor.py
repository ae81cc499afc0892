"""Executors in Go: built by the Go tool, and run as processes of their own."""

import json
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

from surefoot.definition import ToolDefinition
from tests.conftest import RealServer
from tests.workflows.agents import FakeTool, never
from workers.process_table import command_lines

EXAMPLE = Path(__file__).parents[2] / "examples" / "executor-go"
RUDE = Path(__file__).with_name("rude.go")


def build(source: str, program: Path) -> Path:
    """Build a package, or a file that needs what the example needs; gives the program."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    flags = {"GOFLAGS": "-mod=readonly -buildvcs=false"}
    command = [go, "build", "-o", str(program), source]
    subprocess.run(command, cwd=EXAMPLE, env={**os.environ, **flags}, check=True, timeout=140)
    return program


def remote(name: str, *, queue: str, **more: object) -> FakeTool:
    """A tool that only the executor of that queue has."""
    fields = {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}}
    return FakeTool(ToolDefinition.model_validate({**fields, "executorQueue": queue, **more}), never)


def example_tool(*, queue: str, **more: object) -> FakeTool:
    """The example's own tool, by its manifest, on another queue."""
    manifest = json.loads((EXAMPLE / "checksum.tool.json").read_text())
    return FakeTool(ToolDefinition.model_validate({**manifest, "executorQueue": queue, **more}), never)


class ExecutorProcess:
    """An executor in a process of its own, which ends with its context."""

    def __init__(
        self,
        program: Path,
        server: RealServer,
        directory: Path,
        *,
        queue: str | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Have it serve a queue in a directory, with these variables; a queue of its own if none is named."""
        self.queue = queue or f"executor-{secrets.token_hex(4)}"
        self.log = directory / "executor.log"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [program, "-queue", self.queue],
                cwd=directory,
                env={
                    "PATH": os.environ["PATH"],
                    "HOME": str(directory),
                    "TEMPORAL_ADDRESS": server.address,
                    "TEMPORAL_NAMESPACE": server.namespace,
                    **variables,
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """Return once SIGKILL has ended it."""
        self._process.kill()
        self._process.wait(timeout=10)

    def terminate(self) -> int:
        """Ask it to stop, and give its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=10)


def processes_naming(text: str) -> list[int]:
    """The processes whose command line holds this text."""
    return [process_id for process_id, command in command_lines() if text in command]
