"""Which parts of the file system a walled-in executable sees."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc", "/opt", "/nix", "/gnu/store", "/run/current-system"),
)
"""What belongs to nobody's home, where it is there: programs, libraries, and how they are set up."""

MAX_LINKS = 40
"""As many as the kernel follows, too."""


@dataclass(frozen=True)
class Places:
    """What an executable of one call sees beside the system and the interpreters; directories and files."""

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    """What is not written even where it lies below what is; not read for that alone."""


NO_PLACES = Places()


@dataclass(frozen=True)
class Resolved:
    """A path without links, and what must be there to be found by the path that was asked for."""

    path: str
    links: tuple[tuple[str, str], ...] = ()
    """The links that led there: where each one is, and what it says."""
    left: tuple[str, ...] = ()
    """What `..` led out of, without links; the root is not among them."""


def resolved(path: str | Path) -> Resolved:
    """Follow all links of an absolute path, whether it leads to something or not."""
    ahead = [part for part in os.fspath(path).split("/") if part][::-1]
    at, links, left = "", list[tuple[str, str]](), list[str]()
    while ahead:
        part = ahead.pop()
        if part == ".":
            continue
        if part == "..":
            left += [at] if at else []
            at = at.rpartition("/")[0]
            continue
        try:
            target = os.readlink(f"{at}/{part}")  # noqa: PTH115  a Path would cost every call
        except OSError:
            at = f"{at}/{part}"
            continue
        links.append((f"{at}/{part}", target))
        if len(links) > MAX_LINKS:
            break
        at = "" if target.startswith("/") else at
        ahead += [step for step in target.split("/") if step][::-1]
    return Resolved(at or "/", tuple(links), tuple(left))


def is_below(path: str, directory: str) -> bool:
    """Tell whether a path is a directory or below it; both without links."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def is_of_system(path: str) -> bool:
    """Tell whether a path without links is one of the system's, or below it."""
    return any(is_below(path, directory) for directory in SYSTEM)


def home_of(environment_home: str | None) -> str | None:
    """Give a home that can be hidden; the root, and what is no absolute path, cannot."""
    if environment_home is None or not environment_home.startswith("/"):
        return None
    home = resolved(environment_home).path
    return None if any(is_below(directory, home) for directory in ("/usr", "/etc")) else home


@cache
def closed_files() -> tuple[str, ...]:
    """Give what of /etc not everybody may read, and this user may: passwords and keys."""
    return tuple(path for path in _closed("/etc") if os.access(path, os.R_OK))


def _closed(directory: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            continue
        status, is_directory = entry.stat(follow_symlinks=False), entry.is_dir(follow_symlinks=False)
        wanted = 0o005 if is_directory else 0o004
        if status.st_mode & wanted != wanted:
            yield entry.path
        elif is_directory:
            yield from _closed(entry.path)


def without(directory: str, hidden: Iterable[str]) -> Iterator[str]:
    """Give all that is below a directory but what is hidden, in as few paths as can be; no links."""
    inside = [path for path in hidden if is_below(path, directory)]
    if directory in inside:
        return
    if not inside:
        yield directory
        return
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        # What a link leads to is granted where it is.
        if not entry.is_symlink():
            yield from without(entry.path, inside)
