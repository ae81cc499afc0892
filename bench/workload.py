"""The work of one measured run: so many turns, so many calls in each, so much text in each answer."""

import hashlib
from dataclasses import dataclass
from typing import Self

TOOL = "speak"
DESCRIPTION = "Gives text."


@dataclass(frozen=True)
class Workload:
    """What a fake model asks for: tools in every turn but the last, in which it answers."""

    turns: int
    calls: int = 1
    result_bytes: int = 16
    window_tokens: int | None = None
    """The model's context window; None = nothing is known of it."""

    @property
    def name(self) -> str:
        """Name it as a model, about as long as those of providers, so that it reaches whoever plays it."""
        sizes = (self.turns, self.calls, self.result_bytes, self.window_tokens or 0)
        return f"bench:{'-'.join(str(size) for size in sizes)}"

    @classmethod
    def named(cls, name: str) -> Self:
        """Give the workload that a model's name stands for."""
        *sizes, window_tokens = (int(size) for size in name.removeprefix("bench:").split("-"))
        return cls(*sizes, window_tokens=window_tokens or None)

    def calls_of(self, turn: int) -> int:
        """Tell how many calls the model makes in a turn, counted from 1; none in the last one."""
        return 0 if turn >= self.turns else self.calls


def spoken(turn: int, call: int, result_bytes: int) -> str:
    """Give the text of one answer: always the same for the same call, and hard to compress."""
    words: list[str] = []
    while sum(map(len, words)) < result_bytes:
        words.append(hashlib.sha256(f"{turn} {call} {len(words)}".encode()).hexdigest())
    return "".join(words)[:result_bytes]
