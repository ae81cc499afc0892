"""The arguments of bwrap: namespaces of its own for an executable, and of the files only what it may see."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from activities.tools.sandbox.places import resolved

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--as-pid-1", "--hostname", "tool"),
)
_NOBODY = ("--uid", "65534", "--gid", "65534")
"""Who root is inside: programs try less as somebody who is not root."""

_MEBIBYTE = 1024 * 1024
_PRIVATE_BYTES = 1024 * _MEBIBYTE
"""How much fits the private /tmp, and the empty home; it is memory."""

_SHARED_MEMORY_BYTES = 256 * _MEBIBYTE

Kind = Literal["read", "write", "private", "hidden", "devices", "processes"]


@dataclass(frozen=True)
class Seen:
    """What is seen of the file system; all paths are absolute."""

    read: tuple[str, ...]
    write: tuple[str, ...]
    kept: tuple[str, ...]
    """What is not written where it lies below what is; not seen for that alone."""
    private: tuple[str, ...]
    """Directories that are empty at first, and gone with the call."""
    hidden: tuple[str, ...]


def bubblewrap(bwrap: str, seen: Seen, *, directory: str, network: bool) -> tuple[str, ...]:
    """Give the command line up to the program that is to be the first process of the namespaces."""
    return (
        *(bwrap, *_NAMESPACES, *(_NOBODY if os.getuid() == 0 else ()), *_unless(network, "--unshare-net")),
        *mounts(seen),
        *("--chdir", resolved(directory).path, "--"),
    )


def mounts(seen: Seen) -> Iterator[str]:
    """Give the arguments that show these places and nothing else, each before what lies below it."""
    kinds, links, left = _by_path(seen)
    shown: dict[str, Kind] = {path: kind for path, kind in kinds.items() if _is_needed(path, kind, kinds)}
    for path in _pins(shown):
        shown[path] = "write"
    for path in sorted({*shown, *links, *left}, key=lambda path: path.split("/")):
        if path in shown:
            yield from _mount(path, shown[path])
        elif _around(path, shown) in (None, "private", "hidden"):
            # Elsewhere the link or the directory is where it is anyway.
            yield from ("--symlink", links[path], path) if path in links else ("--dir", path)
    # All that was made for something to be mounted there is made now.
    for path, kind in {"/": None, **shown}.items():
        # Of /proc, root outside owns what changes the kernel, and inside it is the same user.
        if kind in (None, "devices", "processes") or (kind == "hidden" and _is_directory(path)):
            yield from ("--remount-ro", path)


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  a Path would cost every call


def _by_path(seen: Seen) -> tuple[dict[str, Kind], dict[str, str], set[str]]:
    """What is to be done with each path, the later word counting; the links and directories on the way."""
    kinds: dict[str, Kind] = {"/dev": "devices", "/proc": "processes"}
    links, left = dict[str, str](), set[str]()
    asked: tuple[tuple[Kind, Iterable[str]], ...] = (
        ("read", seen.read),
        ("private", seen.private),
        ("hidden", seen.hidden),
        # Whoever works in what is to be hidden must see it; what else is named of it is hidden all the same.
        ("write", seen.write),
    )
    for kind, paths in asked:
        for path in paths:
            found = resolved(path)
            if kind == "private" or os.path.lexists(found.path):
                links |= dict(found.links)
                left.update(filter(_is_directory, found.left))
                kinds[found.path] = kind
    for path in seen.kept:
        real = resolved(path).path
        if real not in kinds and _around(real, kinds) == "write" and os.path.lexists(real):
            kinds[real] = "read"
    return kinds, links, left


def _is_needed(path: str, kind: Kind, kinds: dict[str, Kind]) -> bool:
    around = _around(path, kinds)
    match kind:
        case "hidden":
            return around in ("read", "write")
        case "private":
            # It would be made where it is not.
            return around not in ("read", "write") or _is_directory(path)
        case "read" | "write":
            return around != kind
        case "devices" | "processes":
            return True


def _around(path: str, kinds: dict[str, Kind]) -> Kind | None:
    """What is done with the nearest place that this one lies in."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        if path in kinds:
            return kinds[path]
    return None


def _pins(kinds: dict[str, Kind]) -> Iterator[str]:
    """Directories between what is written and what in it is not: once renamed, another could be there."""
    for path, kind in list(kinds.items()):
        if kind in ("read", "hidden") and _around(path, kinds) == "write":
            while (path := path.rpartition("/")[0] or "/") not in kinds:
                yield path


def _mount(path: str, kind: Kind) -> tuple[str, ...]:
    match kind:
        case "read":
            return ("--ro-bind", path, path)
        case "write":
            return ("--bind", path, path)
        case "private":
            return ("--size", str(_PRIVATE_BYTES), "--tmpfs", path)
        case "devices":
            return ("--dev", path, "--size", str(_SHARED_MEMORY_BYTES), "--tmpfs", f"{path}/shm")
        case "processes":
            return ("--proc", path)
        case "hidden":
            if _is_directory(path):
                return ("--size", "4096", "--tmpfs", path)
            return ("--ro-bind", "/dev/null", path)


def _unless(condition: bool, *arguments: str) -> tuple[str, ...]:
    return () if condition else arguments
