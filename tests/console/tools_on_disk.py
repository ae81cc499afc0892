"""Tools that a test writes: a shell script beside its manifest."""

import json
from pathlib import Path

ECHO = 'printf \'{"got": %s}\' "$1"'


def write_tool(directory: Path, name: str, script: str = ECHO, **fields: object) -> Path:
    """Write a tool that takes any object; gives its executable."""
    manifest = {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **fields}
    (directory / f"{name}.tool.json").write_text(json.dumps(manifest))
    executable = directory / name
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)
    return executable
