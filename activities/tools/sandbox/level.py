"""How strongly an executable is walled in."""

from typing import Literal, get_args

Level = Literal["bwrap", "landlock", "none"]
"""bwrap: namespaces of its own; landlock: the worker's, and rules of the kernel for them; none: no walls."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""The strongest first."""
