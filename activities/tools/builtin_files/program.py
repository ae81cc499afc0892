"""What every file tool does around its own work: params in, one JSON answer out."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from activities.tools.builtin_files.refusal import RefusalError, refusal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Answer = dict[str, object]
Item = TypeVar("Item")

ROOT = "."
"""The run's working directory: a tool is started in it."""

MAX_SHOWN_BYTES = 80_000
"""Of JSON; the model's limit for an answer is 102,400, above which it would be cut without sense."""


def main(work: Callable[..., Answer], empty: Answer) -> None:
    """Print the answer of one call; `empty` are the tool's own fields where there is nothing to say."""
    signal.signal(signal.SIGTERM, _leave)
    (argument,) = sys.argv[1:]
    params = json.loads(sys.stdin.buffer.read() if argument == "-" else os.fsencode(argument))
    text = json.dumps(answer(work, empty, params), ensure_ascii=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")


def answer(work: Callable[..., Answer], empty: Answer, params: dict[str, Any]) -> Answer:
    """Do the work; a failed operation is an answer, too, in the shape of the function tools'."""
    path = params.get("path", ROOT)
    try:
        return {"success": True, "error": None, "path": path, **work(**params)}
    except RefusalError as error:
        refusal = error
    except OSError as error:
        refusal = refusal_of(error, path)
    failed = {"success": False, "error": refusal.error, "error_code": refusal.error_code}
    return {**failed, "path": path, **empty}


def fitting(items: Iterable[Item]) -> list[Item]:
    """Take as many as an answer has room for."""
    taken: list[Item] = []
    room = MAX_SHOWN_BYTES
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False).encode("utf-8", "replace")) + len(", ")
        if room < 0:
            break
        taken.append(item)
    return taken


def shown_name(name: str) -> str:
    """Give a file's name as text; bytes in it that are no UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def _leave(number: int, _: object) -> None:
    # Raised, so that a file that is half written is removed.
    raise SystemExit(128 + number)
