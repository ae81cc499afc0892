"""One thing that is wrong with an agent file, where it stands."""

from dataclasses import dataclass
from pathlib import Path

from activities.document import Place
from activities.tools.problem import Problem


@dataclass(frozen=True)
class Mistake:
    """A reason in words, the line that it is about, and the field."""

    line: int
    reason: str
    place: Place = ()

    def problem(self, path: Path, *, warning: bool = False) -> Problem:
        """Say it as everything that is wrong with tools is said: file, line, field, reason."""
        field = ".".join(str(step) for step in self.place if step != "") or None
        return Problem(f"{path}:{self.line}", self.reason, field, warning)
