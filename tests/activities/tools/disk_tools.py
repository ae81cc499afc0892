"""Tools on disk that a test writes, found as a worker finds them."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from activities.tools.discovery import discover_tools
from activities.tools.executor import Tool

SHELL = "#!/bin/sh\n"
PYTHON = f"#!{sys.executable} -IS\n"

WAIT_FOR_GO = "while [ ! -e go ]; do sleep 0.02; done"
"""Shell: goes on once the file `go` is in the tool's working directory."""


def write_tool(directory: Path, name: str, script: str, *, mode: int = 0o755, **manifest: object) -> None:
    """Write an executable and its manifest."""
    directory.mkdir(exist_ok=True)
    fields = {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}}
    (directory / f"{name}.tool.json").write_text(json.dumps({**fields, **manifest}))
    executable = directory / name
    executable.write_text(script)
    executable.chmod(mode)


def found(directory: Path) -> Mapping[str, Tool]:
    """Find the tools of a directory; every one of them is usable."""
    discovery = discover_tools([directory])
    assert not discovery.errors
    return discovery.tools
