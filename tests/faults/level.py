"""The level of the sandbox that the tools of the suite run at."""

from activities.tools.sandbox import landlock
from activities.tools.sandbox.level import Level
from workers.settings import load_settings
from workers.walls import sandbox_of

_ABI_THAT_HOLDS_SIGNALS = 6


def level_here() -> Level:
    """Give the level of the suite's commands: that of SUREFOOT_SANDBOX, else the strongest of this machine.

    Raises:
        SettingsError: the level that is asked for does not work here.
    """
    return sandbox_of(load_settings()).level


def reaches_its_worker(level: Level) -> bool:
    """Tell whether a tool at this level can send its worker a signal."""
    return level == "none" or (level == "landlock" and landlock.abi() < _ABI_THAT_HOLDS_SIGNALS)
