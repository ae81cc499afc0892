"""Which levels of the sandbox work on this machine, and why others do not."""

import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from activities.tools.command import Command
from activities.tools.sandbox import landlock
from activities.tools.sandbox.level import LEVELS, Level
from activities.tools.sandbox.places import NO_PLACES
from activities.tools.sandbox.sandbox import Sandbox
from activities.tools.sandbox.system_programs import system_program
from activities.tools.sandbox.walls import Walls
from activities.tools.supervised import NotConfinedError, Supervised
from surefoot.resource_limits import DEFAULT_RESOURCES

_SHELL = Path("/bin/sh")
_READ_IT = 'if read -r word < "$0"; then exit 1; fi 2>/dev/null; exit 0'
_PATIENCE_SECONDS = 20


def levels() -> tuple[Level, ...]:
    """Give the levels that work here, the strongest first; `none` always does."""
    return tuple(level for level in LEVELS if why_not(level) is None)


@cache
def why_not(level: Level) -> str | None:
    """Say in a phrase why a level does not work here; None if it does.

    Something is started at the level, which takes some hundredths of a second the first time.
    """
    if level == "none":
        return None
    if sys.platform != "linux":
        return "only Linux has what it takes"
    if level == "bwrap" and system_program("bwrap") is None:
        return "there is no bwrap on the PATH: install the package bubblewrap"
    if level == "landlock" and (version := landlock.abi()) < landlock.LEAST_ABI:
        has = f"has its version {version}" if version else "has none"
        return f"it takes version {landlock.LEAST_ABI} of Landlock (Linux 6.2), and the kernel {has}"
    return _try(level)


def _try(level: Level) -> str | None:
    """Have a shell read what it must not see."""
    try:
        with tempfile.TemporaryDirectory(prefix="surefoot-") as directory:
            secret, work, own = (Path(directory, name) for name in ("secret", "work", "own"))
            secret.write_text("word\n")
            work.mkdir()
            own.mkdir()
            return _reading(secret, level, work, own)
    except OSError as error:
        return f"it cannot be tried: {error}"


def _reading(secret: Path, level: Level, work: Path, own: Path) -> str | None:
    environment = {"PATH": os.defpath}
    walls = Walls(Sandbox(level), _SHELL, work, environment, NO_PLACES, DEFAULT_RESOURCES, network=False)
    walled = walls.walled(str(own))
    arguments = [os.fsencode(word) for word in (_SHELL, "-c", _READ_IT, secret)]
    command = Command(arguments, walled.environment, work, confinement=walled.confinement)
    leash = Supervised(command)
    try:
        _, said = leash.process.communicate(timeout=_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        leash.process.kill()
        leash.process.communicate()
        said = b"nothing could be started within its time"
    try:
        read = leash.release() != 0
    except NotConfinedError:
        return said.decode(errors="replace").strip() or "it could not be set up"
    return "what it hides can be read all the same" if read else None
