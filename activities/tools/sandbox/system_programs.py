"""Programs that a worker starts itself, without walls."""

import os
import shutil

from activities.tools.sandbox.places import SYSTEM, is_below, resolved


def system_program(name: str) -> str | None:
    """Give where a program is on the PATH, in what belongs to the system; None if it is not there.

    A PATH may name directories that tools can write, such as those of a project, and one of them may have
    left a program of this name.
    """
    directories = [path for path in os.get_exec_path() if _is_of_system(path)]
    return shutil.which(name, path=":".join(directories)) if directories else None


def _is_of_system(directory: str) -> bool:
    real = resolved(directory).path
    return directory.startswith("/") and any(is_below(real, system) for system in SYSTEM)
