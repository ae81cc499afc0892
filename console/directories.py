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
        raise CommandError(f"there is no such working directory: {directory}")
    return directory
