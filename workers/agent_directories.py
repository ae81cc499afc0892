"""Where agents are looked for by their names."""

import os
from pathlib import Path


def agent_directories() -> tuple[Path, ...]:
    """Give the project's directory, then the user's: XDG_CONFIG_HOME or ~/.config, then `surefoot/agents`."""
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        home = configured if configured.is_absolute() else Path("~/.config").expanduser()
    except RuntimeError:
        # Whoever has no home has no agents there.
        return (Path("agents"),)
    return (Path("agents"), home / "surefoot" / "agents")
