"""Directories that a command is given."""

from pathlib import Path

from activities.tools.workspaces import Workspace, Workspaces
from console.errors import CommandError
from workers.settings import Settings


def working_directory(given: Path | None) -> Path:
    """Give the directory where tools run, absolute: the given one, else the current one.

    Raises:
        CommandError: there is no such directory.
    """
    directory = (given or Path.cwd()).absolute()
    if not directory.is_dir():
        problem = "is not a directory" if directory.exists() else "does not exist"
        raise CommandError(f"the working directory {directory} {problem}")
    return directory


def workspaces_of_runs(given: Path | None, workspace: Workspace | None, settings: Settings) -> Workspaces:
    """Give where the runs of a worker work: all of them in a directory that was named, else each in its own.

    Raises:
        CommandError: there is no such directory.
    """
    kind = workspace or ("own" if given is None else "shared")
    return Workspaces(working_directory(given), kind, settings.workspaces_location)
