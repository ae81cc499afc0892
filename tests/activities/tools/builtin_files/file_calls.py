"""Calls of the file tools' functions, in this process and held against their manifests."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from activities.tools.builtin_files import editing, listing, reading, searching, writing
from activities.tools.builtin_files.program import Answer, answer
from activities.tools.sources import BUILTINS
from surefoot.definition import Manifest
from surefoot.schema import problems

DIRECTORY = BUILTINS["builtin:files"]
_WORKS: dict[str, tuple[Callable[..., Answer], Answer]] = {
    "read_file": (reading.read_file, reading.NOTHING),
    "write_file": (writing.write_file, writing.NOTHING),
    "edit_file": (editing.edit_file, editing.NOTHING),
    "list_dir": (listing.list_dir, listing.NOTHING),
    "search": (searching.search, searching.NOTHING),
}
MANIFESTS = {
    name: Manifest.model_validate_json((DIRECTORY / f"{name}.tool.json").read_text()) for name in _WORKS
}


def ask(tool: str, **params: object) -> dict[str, Any]:
    """Give the answer to a valid call in the current directory; it fits the manifest."""
    manifest = MANIFESTS[tool]
    given: dict[str, Any] = params
    assert problems(manifest.input_schema, given) == ()
    answered: dict[str, Any] = answer(*_WORKS[tool], given)
    assert problems(manifest.output_schema or {}, answered) == ()
    return answered


def refused(tool: str, **params: object) -> tuple[str, str]:
    """Give the code and the words of a failed operation."""
    answered = ask(tool, **params)
    assert answered["success"] is False
    return answered["error_code"], answered["error"]


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def everything_in(directory: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(directory)): file.read_bytes()
        for file in directory.rglob("*")
        if file.is_file() and not file.is_symlink()
    }
