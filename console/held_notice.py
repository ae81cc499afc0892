"""What somebody who watches is told of a run that nothing but a word of theirs lets go on."""

from collections.abc import Iterator

from surefoot.events import (
    Event,
    ModelUnavailable,
    RunPaused,
    RunResumed,
)


class HeldNotice:
    """Says once of each time that a run is held how to let it go on; `resume` is the command."""

    def __init__(self, resume: str) -> None:
        self._resume = resume
        self._due: str | None = None

    def hear(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case RunPaused():
                self._due = f"the run is paused; `{self._resume}` lets it go on"
            case ModelUnavailable():
                self._due = f"the run waits; `{self._resume}` has it ask its model again"
            case RunResumed():
                self._due = None
            case _:
                pass

    def due(self) -> Iterator[str]:
        """Give the line that is due, if one is."""
        line, self._due = self._due, None
        if line is not None:
            yield line
