"""Where programs are installed that are no part of the system: in homes, and beside projects."""

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from activities.tools.sandbox.places import MAX_LINKS, is_below, is_of_system, resolved

_PACKAGES = ("activities", "console", "surefoot", "workers", "workflows")
"""Surefoot itself: its supervisor, its tools, and the command that they may call."""

_ROOT = Path(__file__).parents[3]

_WHOLE = frozenset(
    {".asdf", ".jenv", ".nodenv", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".volta", ".rye"}
)
"""Directories of a home that hold nothing but versions of programs, and what chooses among them."""

_KEPT = (".local/share/uv/python", ".local/share/mise", ".local/share/pnpm", ".local/pipx")
"""Where such managers keep programs in a directory that holds more."""

_BESIDE = {".cargo": (".rustup",)}
"""What programs in one directory of a home need of another."""

_PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "pyvenv.cfg")
"""What of the place where a program is installed belongs to it; a home may be such a place, and has more."""


@cache
def installations(
    path: str | None, home: str | None, interpreter: str | None, writable: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Give what to show of the programs on a PATH and of an interpreter; no part of it lies below another.

    `home` is the one that is hidden otherwise. Surefoot's own interpreter and its packages are among them.
    A link that lies in what is `writable` leads to nothing but programs that a manager of versions keeps: an
    earlier call may have made it.
    """
    found = _Found(home, writable)
    for directory in (path or "").split(":"):
        if directory.startswith("/") and found.may_lead(directory):
            found.add_directory(directory)
    for executable in (sys.executable, interpreter):
        if executable is not None and executable.startswith("/"):
            found.add_program(executable)
    for prefix in (sys.prefix, sys.base_prefix):
        found.add_directory(f"{prefix}/bin")
    for package in _PACKAGES:
        found.show(str(_ROOT / package))
    found.add_packages_of_the_user()
    return tuple(sorted(found.shown))


class _Found:
    """What is shown so far."""

    def __init__(self, home: str | None, writable: tuple[str, ...]) -> None:
        self.shown: dict[str, None] = {}
        self._home = home
        self._writable = tuple(resolved(directory).path for directory in writable)
        self._seen: set[str] = set()

    def show(self, path: str) -> None:
        """Show a path, by its links, too; what the system shows is left out."""
        if os.path.lexists(path) and not is_of_system(resolved(path).path):
            self.shown[path] = None

    def may_lead(self, path: str) -> bool:
        """Say whether no tool chose where this path leads, or it leads where only programs are."""
        found = resolved(path)
        chosen = any(is_below(link, directory) for link, _ in found.links for directory in self._writable)
        return not chosen or self._is_kept_by_a_manager(found.path)

    def _is_kept_by_a_manager(self, path: str) -> bool:
        return any(is_below(path, f"{self._home}/{directory}") for directory in (*_WHOLE, *_KEPT))

    def add_program(self, program: str) -> None:
        """Show a program with what belongs to it, and likewise each that it is a link to."""
        for _ in range(MAX_LINKS):
            directory = os.path.dirname(program)  # noqa: PTH120  there are thousands, and each Path would cost
            if self._holds_homes(directory):
                self.show(program)
            else:
                self.add_directory(directory)
            try:
                target = os.readlink(program)  # noqa: PTH115  as above
            except OSError:
                return
            program = os.path.normpath(os.path.join(directory, target))  # noqa: PTH118  as above

    def add_directory(self, directory: str) -> None:
        """Show a directory of programs with what belongs to it, and where its links lead."""
        if directory in self._seen:
            return
        self._seen.add(directory)
        real = resolved(directory).path
        if self._holds_homes(real):
            return
        if not is_of_system(real) and os.path.isdir(real):  # noqa: PTH112
            for shown in self._with_its_parts(real):
                self.show(shown)
            self.show(directory)
        for program in _links_out_of_system(real):
            if self.may_lead(program):
                self.add_program(program)

    def add_packages_of_the_user(self) -> None:
        """Show what `pip install --user` installs, which Python finds whatever is on the PATH."""
        if self._home is not None:
            for packages in Path(self._home, ".local/lib").glob("python*/site-packages"):
                if self.may_lead(str(packages)):
                    self.show(str(packages))

    def _holds_homes(self, directory: str) -> bool:
        real = resolved(directory).path
        return real in ("/", "/home", "/root") or (self._home is not None and is_below(self._home, real))

    def _with_its_parts(self, directory: str) -> Iterator[str]:
        yield directory
        if self._home is not None and is_below(directory, self._home) and directory != self._home:
            first = directory.removeprefix(self._home).strip("/").partition("/")[0]
            if first in _WHOLE:
                yield f"{self._home}/{first}"
            for other in _BESIDE.get(first, ()):
                yield f"{self._home}/{other}"
        prefix, _, name = directory.rpartition("/")
        if name in ("bin", "sbin") and not self._holds_homes(prefix):
            for part in _PARTS:
                yield f"{prefix}/{part}"


def _links_out_of_system(directory: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink() and not is_of_system(resolved(entry.path).path):
            yield entry.path
