"""The walls around the executable of one call."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.tools.sandbox.bubblewrap import Seen, bubblewrap
from activities.tools.sandbox.confinement import Confinement
from activities.tools.sandbox.interpreters import installations
from activities.tools.sandbox.places import SYSTEM, Places, closed_files, home_of, is_below, resolved, without
from activities.tools.sandbox.sandbox import Sandbox
from activities.tools.sandbox.system_programs import system_program
from activities.tools.start_failure import interpreter_of
from surefoot.resource_limits import ResourceLimits

# No terminals: those of other programs of the same user would be among them.
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "fd"))
_RESOLVER = "/etc/resolv.conf"
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108  what stands there is private to the call


@dataclass(frozen=True)
class Walled:
    """What an executable is started with behind its walls."""

    confinement: Confinement
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Walls:
    """What is to be walled in, and where it works."""

    sandbox: Sandbox
    executable: Path
    directory: Path
    environment: Mapping[str, str]
    places: Places
    resources: ResourceLimits
    network: bool

    @asynccontextmanager
    async def stand(self) -> AsyncGenerator[Walled]:
        """Have them, as long as the executable runs.

        Raises:
            OSError: its own place for temporary files cannot be made.
        """
        if self.sandbox.level != "landlock":
            yield self.walled()
            return
        own = tempfile.mkdtemp(prefix="surefoot-call-")
        try:
            yield self.walled(own)
        finally:
            await asyncio.to_thread(shutil.rmtree, own, ignore_errors=True)

    def walled(self, own: str | None = None) -> Walled:
        """Give what the executable is started with; at landlock, `own` is its home and its TMPDIR."""
        match self.sandbox.level:
            case "none":
                return Walled(Confinement(resources=self.resources), self.environment)
            case "bwrap":
                return self._bubblewrapped()
            case "landlock":
                return self._landlocked(*(() if own is None else (own,)))

    def _bubblewrapped(self) -> Walled:
        home = self._home()
        seen = Seen(
            read=(*SYSTEM, *self._readable()),
            write=self._writable(),
            kept=tuple(map(str, self.places.kept)),
            private=(*_TEMPORARY, *(() if home is None else (home,))),
            hidden=self._hidden(),
        )
        before = bubblewrap(
            system_program("bwrap") or "bwrap", seen, directory=str(self.directory), network=self.network
        )
        moved = {"TMPDIR": _TEMPORARY[0]} if "TMPDIR" in self.environment else {}
        confinement = Confinement("bwrap", self.resources, before=before, network=self.network)
        return Walled(confinement, {**self.environment, **moved})

    def _landlocked(self, *own: str) -> Walled:
        hidden = [resolved(path).path for path in self._hidden()]
        read = [resolved(path).path for path in (*SYSTEM, *self._readable(), "/proc")]
        confinement = Confinement(
            "landlock",
            self.resources,
            read=tuple(path for directory in read for path in without(directory, hidden)),
            write=(*self._writable(), *own, *_DEVICES),
            network=self.network,
        )
        # Programs that look into their home fail where they may not.
        places = {name: path for path in own for name in ("HOME", "TMPDIR")}
        return Walled(confinement, {**self.environment, **places})

    def _home(self) -> str | None:
        return home_of(self.environment.get("HOME"))

    def _readable(self) -> tuple[str, ...]:
        interpreter = interpreter_of(self.executable)
        found = installations(self.environment.get("PATH"), self._home(), interpreter, self._writable())
        more = map(str, (*self.sandbox.visible, *self.places.read, self.executable))
        return (*found, *self._own_directory(), *more, *((_RESOLVER,) if self.network else ()))

    def _own_directory(self) -> tuple[str, ...]:
        """What lies beside the executable, if that is not a whole home."""
        directory, home = str(self.executable.parent), self._home()
        is_large = directory == "/" or (home is not None and is_below(home, resolved(directory).path))
        return () if is_large else (directory,)

    def _writable(self) -> tuple[str, ...]:
        return tuple(map(str, (self.directory, *self.places.write)))

    def _hidden(self) -> tuple[str, ...]:
        return (*map(str, self.sandbox.hidden), *closed_files())
