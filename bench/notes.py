"""What a measured worker notes down for who measures it: one JSON object a line, times from one clock."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["serving", "turn", "query", "instance", "replayed"]


@dataclass(frozen=True)
class Note:
    """One thing that happened in a worker."""

    kind: Kind
    at: float
    """On the machine's monotonic clock, which all processes share."""
    turn: int = 0
    seconds: float = 0
    """How long a query or a replay took."""


class Notes:
    """Writes to one file."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", buffering=1)

    def write(self, kind: Kind, *, turn: int = 0, seconds: float = 0) -> None:
        """Note one thing that happened now."""
        note = {"kind": kind, "at": time.monotonic(), "turn": turn, "seconds": seconds}
        self._file.write(f"{json.dumps(note)}\n")

    def turn(self, turn: int) -> None:
        """Note that the model was asked."""
        self.write("turn", turn=turn)


def read_notes(file: Path) -> list[Note]:
    """Read what was written so far."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [Note(**json.loads(line)) for line in lines if line.endswith("\n")]
