"""How strongly an executable is walled in."""

from typing import Literal, get_args

Level = Literal["bwrap", "landlock", "none"]
"""bwrap: namespaces of its own; landlock: rules of the kernel in the namespaces of its worker; none: no walls."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""The strongest first."""
