"""Directories that a command is given."""

from pathlib import Path

from console.errors import CommandError


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
