"""One thing that a tool may try, and how it is seen that it worked."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.attacks.scene import Scene


@dataclass(frozen=True)
class Ran:
    """How a tool ended that attacked."""

    reached: object
    """What it says that it reached; None where it was refused."""
    printed: str
    """What the console would print of it."""
    note: str = ""
    """By what it was refused, or how it ended."""
    answered: bool = True
    """Whether it lived to tell."""


@dataclass(frozen=True)
class Attack:
    """A tool that does harm. Its name, in plain words, is that of its row in the table."""

    name: str
    tries: str
    """The body of a Python function; `at` says where things are. It gives what it reached, or raises."""
    succeeded: Callable[["Scene", Ran], bool]
    """Whether the harm was done; asked while all that was attacked is still there."""
    manifest: Mapping[str, object] = field(default_factory=dict[str, object])
    """Fields of its manifest beside the required ones."""
    tools: str = "tools"
    """Where its tool lies, below the directory of the scene; `work` is its working directory."""
    state: str = "state"
    """Where the worker has its state."""
    calls: int = 1
    """How often it is called, each time by a worker that has just been started."""
    timeout_seconds: float = 10
    may_end: bool = False
    """Whether it is also held by being ended."""
    impossible: Callable[[], str | None] = lambda: None
    """Why it cannot work on this machine, whatever protects it; None if it can."""

    def script(self, interpreter: str) -> str:
        """The whole of its executable."""
        body = "\n".join(f"    {line}" for line in self.tries.strip("\n").splitlines())
        return _SCRIPT.replace("INTERPRETER", interpreter).replace("BODY", body)


def learned(scene: "Scene", ran: Ran) -> bool:
    """Say whether the tool has got the secret."""
    return scene.holds_secret(ran.reached)


def claimed(_: "Scene", ran: Ran) -> bool:
    """Say whether the tool reached what nobody else can see."""
    return ran.reached is True


def only_as_root() -> str | None:
    """Say why an attack on what belongs to root is none here."""
    return None if os.geteuid() == 0 else "the worker is not root"


_SCRIPT = """#!INTERPRETER -IS
import ctypes, json, mmap, os, re, resource, signal, socket, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)

class at:
    pass

def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def syscall(number, *arguments):
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    libc.syscall.restype = ctypes.c_long
    return checked(libc.syscall(ctypes.c_long(number), *given))

def everyone():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]

def attack():
BODY

for name, value in json.loads(sys.argv[1]).items():
    setattr(at, name, value)
try:
    said = {"reached": attack(), "refused": ""}
except (OSError, MemoryError, ValueError) as error:
    said = {"reached": None, "refused": f"{type(error).__name__}: {error}"}
print(json.dumps(said, ensure_ascii=False), flush=True)
"""
