"""Which levels of the sandbox work on this machine, and why others do not."""

from activities.tools.sandbox.level import LEVELS, Level


def levels() -> tuple[Level, ...]:
    """Give the levels that work here, the strongest first; `none` always does."""
    return tuple(level for level in LEVELS if why_not(level) is None)


def why_not(level: Level) -> str | None:
    """Say in a phrase why a level does not work here; None if it does."""
    return None if level == "none" else f"executables are not run at the level {level} yet"
