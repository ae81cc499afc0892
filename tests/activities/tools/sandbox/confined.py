import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent, indent

from activities.tools import sandbox

_MODULES = os.fspath(Path(sandbox.__path__[0]))

_PROGRAM = """
import ctypes, errno, json, os, socket, struct, sys
sys.path.insert(0, {modules!r})
import landlock, seccomp
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result

def drop_capabilities():
    no_new_privileges = 38
    libc.prctl(no_new_privileges, 1, 0, 0, 0)
    header = struct.pack("Ii", 0x20080522, 0)
    if libc.capset(header, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "capset")

def attempt():
{attempt}

{confine}
try:
    said = attempt()
except OSError as error:
    said = errno.errorcode[error.errno]
print(json.dumps(said))
"""


def in_a_child(attempt: str, *, confine: str = "", arguments: Sequence[str] = ()) -> object:
    """What a child process confined by `confine` gives for `attempt`, or the name of its errno.

    It runs as a supervisor does: without the packages installed here, and without ours.
    """
    program = _PROGRAM.format(modules=_MODULES, confine=confine, attempt=indent(dedent(attempt), "    "))
    done = subprocess.run(
        [sys.executable, "-IS", "-c", program, *arguments], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
