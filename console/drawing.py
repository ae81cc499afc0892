"""Outputs that draw, and can let others use the terminal."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Drawing(Protocol):
    """An output that draws at the bottom of the terminal, and can leave it to others for a while."""

    def hold(self) -> None:
        """Draw nothing until `go_on`; what happens is printed all the same."""
        ...

    def go_on(self) -> None:
        """Draw again."""
        ...
