"""Which braces of a text still stand open at a place in it."""

import re

_BRACE = re.compile("[{}]")


class OpenBraces:
    """Follows a text from its beginning, and knows whether a place is within an object that is broken."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read = 0
        self._open: list[bool] = []
        """For each brace that stands open, whether it begins a broken object."""
        self._broken: list[int] = []

    def read_to(self, position: int) -> None:
        """Follow the text up to a place."""
        for brace in _BRACE.finditer(self._text, self._read, position):
            if brace[0] == "{":
                self._open.append(False)
            elif self._open and self._open.pop():
                self._broken.pop()
        self._read = position

    def skip_to(self, position: int) -> None:
        """Pass over an object that is whole; what its strings hold are no braces."""
        self._read = position

    def break_at(self, position: int) -> None:
        """Note that the brace at the place reached begins a broken object."""
        self._open.append(True)
        self._broken.append(position)
        self._read = position + 1

    @property
    def broken(self) -> int | None:
        """Where the outermost broken object begins that still stands open; None if none does."""
        return self._broken[0] if self._broken else None
