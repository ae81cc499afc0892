"""Takes all files but those named away from a process and its children, by Landlock (`man 7 landlock`).

Of the standard library and little of it, because the supervisor imports it at every call.
"""

import ctypes
import errno
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_ABI = 3
"""What can be held with: before Linux 6.2, what may not be written could still be truncated."""

# The same numbers on every architecture.
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REMOVE_DIR = 1 << 4
REMOVE_FILE = 1 << 5
MAKE_CHAR = 1 << 6
MAKE_DIR = 1 << 7
MAKE_REG = 1 << 8
MAKE_SOCK = 1 << 9
MAKE_FIFO = 1 << 10
MAKE_BLOCK = 1 << 11
MAKE_SYM = 1 << 12
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15

BIND_TCP = 1 << 0
CONNECT_TCP = 1 << 1

SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0
SCOPE_SIGNAL = 1 << 1

_NETWORK_ABI = 4
_IOCTL_ABI = 5
_SCOPE_ABI = 6

_READ = EXECUTE | READ_FILE | READ_DIR
_WRITE = (
    _READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | REFER
    | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM
)  # fmt: skip
_OF_A_FILE = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE
_REFUSED = MAKE_CHAR | MAKE_BLOCK
"""What nobody is granted: device files open anything."""


def abi() -> int:
    """The version of Landlock that the kernel offers; 0 where it offers none."""
    version = _system_call(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    return max(0, version)


def restrict(read: "Sequence[str]", write: "Sequence[str]", *, network: bool) -> None:
    """Leave this process the files and directories named, with all below them, and no others.

    `read` can be read and executed; `write` also be written, made and removed. What is missing, or cannot be
    reached, is passed over: it would only have been granted. From version 4 on, without `network`, no TCP
    port is connected to or listened on; from 6 on no process outside is signalled, and no abstract Unix
    socket outside is connected to. What was open before stays open. Paths can still be looked up (`stat`),
    and the sockets among them be connected to.

    Raises:
        OSError: it could not be done, or the kernel's version is below `LEAST_ABI`; nothing was taken away.
    """
    version = abi()
    if version < LEAST_ABI:
        raise OSError(errno.ENOSYS, f"Landlock {LEAST_ABI} is needed and the kernel has {version}")
    ruleset = _ruleset(*_rights(version, network=network))
    _put_up(ruleset, ((read, _READ), (write, _WRITE)))


def keep_apart() -> None:
    """Let this process signal none but those that it starts, and reach no abstract Unix socket but theirs.

    Also one that is walled in already is kept apart from whoever is behind the same walls. Before version 6
    of Landlock nothing is changed.

    Raises:
        OSError: it could not be done.
    """
    if abi() >= _SCOPE_ABI:
        scopes = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL
        # Each set of rules denies this one right, even if it says nothing of files.
        _put_up(_ruleset(REFER, 0, scopes), ((("/",), REFER),))


def _rights(version: int, *, network: bool) -> "list[int]":
    files = _WRITE | _REFUSED | (IOCTL_DEV if version >= _IOCTL_ABI else 0)
    attributes = [files]
    if version >= _NETWORK_ABI:
        attributes.append(0 if network else BIND_TCP | CONNECT_TCP)
    if version >= _SCOPE_ABI:
        attributes.append(SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL)
    return attributes


def _ruleset(*attributes: int) -> int:
    """Begin a set of rules with these rights to be taken: of files, of TCP, and scopes."""
    encoded = b"".join(attribute.to_bytes(8, sys.byteorder) for attribute in attributes)
    return _checked(_system_call(_CREATE_RULESET, encoded, len(encoded), 0))


def _put_up(ruleset: int, granted: "Sequence[tuple[Sequence[str], int]]" = ()) -> None:
    try:
        for paths, rights in granted:
            for path in paths:
                _grant(ruleset, path, rights)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _checked(_system_call(_RESTRICT_SELF, ruleset, 0, 0))
    finally:
        os.close(ruleset)


def _grant(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_A_FILE
        # A packed structure: 8 bytes of rights and a descriptor.
        beneath = rights.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
        _checked(_system_call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, beneath, 0))
    finally:
        os.close(descriptor)


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero))


def _system_call(number: int, *arguments: "int | bytes | None") -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    given = [
        ctypes.c_long(argument) if isinstance(argument, int) else ctypes.c_char_p(argument)
        for argument in arguments
    ]
    result: int = libc.syscall(ctypes.c_long(number), *given)
    return result


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
