"""Where the calls of each run work, so that two runs do not meet."""

import asyncio
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from activities.store.store import key_part
from activities.tools.sandbox.system_programs import system_program

Workspace = Literal["shared", "own", "copy"]
"""All runs work in one directory; each has an empty one of its own; or each has a copy of that directory."""

_CHILD = re.compile(r"(/\d+-\d+)+$")

# The copy shares nothing with the repository: in its .git lie programs that run as whoever uses it.
_CLONE = ("-c", "core.hooksPath=/dev/null", "clone", "--quiet", "--local", "--no-hardlinks", "--")
_CLONE_SECONDS = 600


class WorkspaceError(RuntimeError):
    """One sentence on a run that has no directory to work in."""


def directory_name(workflow_id: str) -> str:
    """Name the directory of a run after it; the runs of agents that it calls have the same one."""
    return key_part(_CHILD.sub("", workflow_id))


def make_workspace(workspace: Workspace, named: Path, place: Path, workflow_id: str) -> Path:
    """Give the directory of a run, and make it if there is none; two may do so at once.

    Only the user can look into `place`. A copy of a directory in a git repository is a clone of what is
    committed there.

    Raises:
        WorkspaceError: it cannot be made, and nothing of it is left.
    """
    if workspace == "shared":
        return named
    directory = place / directory_name(workflow_id)
    below = Path()
    try:
        if workspace == "copy" and (repository := _repository(named)) is not None:
            below = named.resolve().relative_to(repository)
            _made(directory, lambda target: _clone(repository, target))
        elif workspace == "copy":
            _made(directory, lambda target: _copy(named, target))
        else:
            _made(directory, Path.mkdir)
    except (OSError, shutil.Error, subprocess.SubprocessError) as error:
        raise WorkspaceError(f"the run has no directory to work in: {directory}: {_reason(error)}") from error
    if not (directory / below).is_dir():
        raise WorkspaceError(f"the run has no directory to work in: {below} is not committed in {named}")
    return directory / below


@dataclass(frozen=True)
class Workspaces:
    """The working directories of the runs that one worker serves."""

    named: Path
    """The working directory that was named, absolute."""
    workspace: Workspace = "shared"
    place: Path | None = None
    """Where those of single runs are; without it all of them share the named one."""
    _making: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, compare=False, repr=False)

    async def of(self, workflow_id: str) -> Path:
        """Give the directory in which the calls of a run work.

        Raises:
            WorkspaceError: there is none, and none can be made.
        """
        if self.workspace == "shared" or self.place is None:
            return self.named
        async with self._making:
            return await asyncio.to_thread(
                make_workspace, self.workspace, self.named, self.place, workflow_id
            )


def _made(directory: Path, make: Callable[[Path], object]) -> None:
    """Have a directory appear whole or not at all."""
    if directory.is_dir():
        return
    directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    making = directory.parent / f".{directory.name}-{secrets.token_hex(4)}"
    try:
        make(making)
        making.rename(directory)
    except OSError:
        # Another worker may have been quicker.
        if not directory.is_dir():
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)


# Every call of a run asks where it works.
@lru_cache(maxsize=8)
def _repository(directory: Path) -> Path | None:
    """The top of the work tree of git that a directory lies in; None without one, or without git."""
    command = ("-C", str(directory), "rev-parse", "--show-toplevel")
    try:
        found = subprocess.run([_git(), *command], capture_output=True, stdin=subprocess.DEVNULL, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return Path(os.fsdecode(found.stdout.rstrip(b"\n")))


def _git() -> str:
    program = system_program("git")
    if program is None:
        raise FileNotFoundError("git is not there")
    return program


def _clone(repository: Path, target: Path) -> None:
    subprocess.run(
        [_git(), *_CLONE, str(repository), str(target)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_CLONE_SECONDS,
        check=True,
    )


def _copy(directory: Path, target: Path) -> None:
    shutil.copytree(directory, target, symlinks=True)


def _reason(error: OSError | shutil.Error | subprocess.SubprocessError) -> str:
    match error:
        case subprocess.CalledProcessError(stderr=bytes(printed)) if printed.strip():
            return printed.decode("utf-8", "replace").strip().splitlines()[-1]
        case shutil.Error():
            return f"{len(error.args[0])} of its files cannot be copied"
        case OSError(strerror=str(reason)):
            return reason
        case _:
            return str(error)
