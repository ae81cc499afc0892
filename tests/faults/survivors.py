"""Finds what a tool call left running: every process that still carries the call's id."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def survivors(workflow_id: str) -> dict[str, list[str]]:
    """Give the command lines of all processes of a run's calls, by tool_exec_id.

    The call's id is in the environment that a tool is given and that its children inherit; one that clears
    its environment is found if it kept the id among its arguments.
    """
    marked = re.compile(rf"{re.escape(workflow_id)}/(\d+-\d+)".encode())
    found: dict[str, list[str]] = {}
    for command, environment in _processes():
        if match := marked.search(environment) or marked.search(command):
            shown = command.replace(b"\0", b" ").decode(errors="replace").strip()
            found.setdefault(match[1].decode(), []).append(shown)
    return found


def _processes() -> Iterator[tuple[bytes, bytes]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            # It may end while it is looked at, or be another user's.
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                yield (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
