"""write_file: a whole file, new or in place of another."""

from __future__ import annotations

from activities.tools.builtin_files.confinement import place_below
from activities.tools.builtin_files.program import ROOT, Answer
from activities.tools.builtin_files.refusal import RefusalError
from activities.tools.builtin_files.replacing import held, replace

NOTHING: Answer = {"action": "", "bytes": None}


def write_file(path: str, content: str) -> Answer:
    """Write the file, and the directories above it that are missing.

    Raises:
        RefusalError: something else than a plain file is there.
        OSError: it cannot be written.
    """
    if path.endswith("/"):
        raise RefusalError(f"{path!r} names a directory")
    data = content.encode()
    with place_below(ROOT, path, create_parents=True) as place, held(place):
        overwritten = replace(place, data)
    return {"action": "overwritten" if overwritten else "created", "bytes": len(data)}
