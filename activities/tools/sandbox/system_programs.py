"""Programs that a worker starts itself, without walls."""

import os
import shutil

from activities.tools.sandbox.places import is_of_system, resolved


def system_program(name: str) -> str | None:
    """Give where a program is on the PATH, in what belongs to the system; None if it is not there.

    A PATH may name directories that tools can write, such as those of a project, and one of them may have
    left a program of this name.
    """
    absolute = (path for path in os.get_exec_path() if path.startswith("/"))
    directories = [path for path in absolute if is_of_system(resolved(path).path)]
    return shutil.which(name, path=":".join(directories)) if directories else None
