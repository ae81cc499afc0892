"""What the executables of a worker are walled in by."""

from dataclasses import dataclass
from pathlib import Path

from activities.tools.sandbox.level import Level


@dataclass(frozen=True)
class Sandbox:
    """The walls around every executable that a worker runs for a call."""

    level: Level
    hidden: tuple[Path, ...] = ()
    """What no executable sees, also where it lies below something that it does see."""
    visible: tuple[Path, ...] = ()
    """What every executable may read beside what it sees anyway."""


UNCONFINED = Sandbox("none")
"""No walls; what holds for every process of a call holds all the same."""
