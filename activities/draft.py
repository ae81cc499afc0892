"""What a model has written of its reply so far, for those who look on while it writes."""

from activities.interface import WritingKind, Written
from surefoot.model_text import scrub

TAIL_BYTES = 2048
"""How much of the text is told: whoever looks on has seen what came before."""


class Draft:
    """Takes a reply piece by piece, and tells at any time how far it has come; it stays small."""

    def __init__(self) -> None:
        self._tail = ""
        self._doing: WritingKind | None = None
        self._tool: str | None = None
        self._characters = 0

    def write(self, text: str) -> None:
        """Take the next piece of the text."""
        # Cut by what UTF-8 takes only when somebody looks: pieces are many, and looks few.
        self._tail = (self._tail + text)[-TAIL_BYTES:]
        self._goes_on("text", text)

    def reason(self, text: str) -> None:
        """Take the next piece of the model's reasoning, which is counted and not told."""
        self._goes_on("reasoning", text)

    def call(self, tool: str) -> None:
        """Take note that the arguments of a call follow."""
        self._tool = tool
        self._goes_on("call", "")

    def argue(self, arguments: str) -> None:
        """Take the next piece of a call's arguments, which are counted and not told."""
        self._goes_on("call", arguments)

    def clear(self) -> None:
        """Begin again: the model is asked for the whole reply once more."""
        self._tail, self._doing, self._tool, self._characters = "", None, None, 0

    def written(self) -> Written:
        """Give how far it has come, as heartbeats carry it."""
        encoded = scrub(self._tail).encode()
        return Written(
            text=encoded[-TAIL_BYTES:].decode(errors="ignore"),
            doing=self._doing,
            tool=scrub(self._tool) if self._tool is not None and self._doing == "call" else None,
            characters=self._characters,
        )

    def _goes_on(self, doing: WritingKind, piece: str) -> None:
        self._doing = doing
        self._characters += len(piece)
