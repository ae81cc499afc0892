"""What processes of one user share by the kernel: memory and keys."""

import ctypes
import os
import platform
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_IPC_PRIVATE = 0
_IPC_RMID = 0
_KEYCTL_UNLINK = 9
_KEYCTL_SETPERM = 5
_USER_KEYRING = -4
_ALL_OF_USER = 0x3F3F0000
_ADD_KEY, _KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (0, 0))

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmat.restype = ctypes.c_void_p
_libc.syscall.restype = ctypes.c_long


@contextmanager
def shared_memory(secret: str) -> Generator[int]:
    """Have a segment of System V with the secret in it; gives its id."""
    segment = _libc.shmget(_IPC_PRIVATE, 4096, 0o600)
    assert segment >= 0
    try:
        address = _libc.shmat(segment, None, 0)
        ctypes.memmove(address, secret.encode(), len(secret))
        _libc.shmdt(ctypes.c_void_p(address))
        yield segment
    finally:
        _libc.shmctl(segment, _IPC_RMID, None)


@contextmanager
def shared_file(name: str, secret: str) -> Generator[Path]:
    """Have the secret in a file of POSIX shared memory."""
    file = Path("/dev/shm", name)
    file.write_text(secret)
    try:
        yield file
    finally:
        file.unlink()


@contextmanager
def kernel_key(name: str, secret: str) -> Generator[bool]:
    """Have the secret in the user's keyring; gives whether this machine has one."""
    key = _call(_ADD_KEY, b"user", name.encode(), secret.encode(), len(secret), _USER_KEYRING)
    if key < 0:
        yield False
        return
    _call(_KEYCTL, _KEYCTL_SETPERM, key, _ALL_OF_USER)
    try:
        yield True
    finally:
        _call(_KEYCTL, _KEYCTL_UNLINK, key, _USER_KEYRING)


def no_kernel_keys() -> str | None:
    """Say why there is no key to be read here."""
    with kernel_key(f"surefoot-probe-{os.getpid()}", "x") as there:
        return None if there else "this machine keeps no keys"


def _call(number: int, *arguments: int | bytes) -> int:
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *given)
    return result
