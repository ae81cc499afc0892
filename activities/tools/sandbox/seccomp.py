"""Refuses a process and its children what no tool needs of the kernel, by a filter (`man 2 seccomp`).

Nobody is killed: what is refused answers EPERM, and what programs can do without answers ENOSYS, on which
they take another way. Of the standard library and little of it, because the supervisor imports it at every
call.
"""

import ctypes
import errno
import os
import sys
from itertools import chain

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_PR_SET_NO_NEW_PRIVS = 38

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

# Instructions of the classic Berkeley packet filter (linux/bpf_common.h).
_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_GREATER_OR_EQUAL = 0x35
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06

# Where `struct seccomp_data` has them; only the low half of an argument counts, as for the kernel.
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""By the name that `uname` gives: how the kernel calls it (`AUDIT_ARCH_…`)."""

_X32 = 0x40000000
"""Of a system call's number: that it is of the x32 ABI."""

NUMBERS = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "uselib": (134, None),
    "vhangup": (153, 58),
}
"""The number of each system call that is looked at, on x86_64 and on aarch64."""

_ENOSYS = frozenset({"clone3", "io_uring_enter", "io_uring_register", "io_uring_setup", "userfaultfd"})
"""What programs can do without. The flags of `clone3` lie in memory, where no filter can see them; the C
library then calls `clone`."""

NAMESPACES = 0x7E020080
"""The flags of every kind of namespace (`CLONE_NEW…`)."""

TERMINAL_INJECTION = (0x5412, 0x541C)
"""TIOCSTI types for the user who sits at the terminal; TIOCLINUX pastes."""

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16


def install(*, network: bool) -> None:
    """Refuse from now on what `program` refuses.

    Raises:
        OSError: it could not be done: the kernel has no filters, or the architecture is unknown.
    """
    machine = os.uname().machine
    # A 32-bit interpreter of a 64-bit kernel makes other system calls.
    if machine not in ARCHITECTURES or sys.maxsize < 1 << 32:
        raise OSError(errno.ENOSYS, f"no filter of system calls is known for {machine}")
    instructions = program(machine, network=network)
    code = ctypes.create_string_buffer(b"".join(instructions))
    filter_program = _FilterProgram(len(instructions), ctypes.addressof(code))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, 0)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(filter_program))


def program(machine: str, *, network: bool) -> "list[bytes]":
    """The filter for a machine of `ARCHITECTURES`, one instruction of 8 bytes each.

    `network` leaves the sockets of IP and netlink, and Unix ones are left always. All others are refused, of
    which some reach the host of a virtual machine. Another ABI of the same kernel, as that of 32 bits, would
    have other numbers for the same calls: it is refused whole.
    """
    column = list(ARCHITECTURES).index(machine)
    refuse_whole = _refuse(errno.ENOSYS)
    instructions = [
        *_load(_ARCHITECTURE),
        *_unless_equal(ARCHITECTURES[machine], refuse_whole),
        *_load(_NUMBER),
        *_where(_JUMP_GREATER_OR_EQUAL, _X32, refuse_whole),
    ]
    for name, numbers in NUMBERS.items():
        number = numbers[column]
        if number is not None:
            instructions += _where(_JUMP_EQUAL, number, _judge(name, network=network))
    return [*instructions, *_return(_ALLOW)]


class _FilterProgram(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _judge(name: str, *, network: bool) -> "list[bytes]":
    """What is answered to a system call; always ends with an answer."""
    families = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK) if network else (_AF_UNIX,)
    refuse, allow = _refuse(errno.ENOSYS if name in _ENOSYS else errno.EPERM), _return(_ALLOW)
    match name:
        case "clone":
            # In its flags the lowest 8 bits are no flags.
            return [*_argument(0), *_where(_JUMP_ANY_BIT, NAMESPACES & ~0xFF, refuse), *allow]
        case "unshare":
            return [*_argument(0), *_where(_JUMP_ANY_BIT, NAMESPACES, refuse), *allow]
        case "ioctl":
            requests = [_where(_JUMP_EQUAL, request, refuse) for request in TERMINAL_INJECTION]
            return [*_argument(1), *chain(*requests), *allow]
        case "prlimit64":
            # Of another process: a limit of its time would end it.
            return [*_argument(0), *_unless_equal(0, refuse), *allow]
        case "socket" | "socketpair":
            allowed = [_where(_JUMP_EQUAL, family, allow) for family in families]
            return [*_argument(0), *chain(*allowed), *refuse]
        case _:
            return refuse


def _argument(index: int) -> "list[bytes]":
    # Both architectures are little-endian.
    return _load(_ARGUMENTS + 8 * index)


def _load(offset: int) -> "list[bytes]":
    return [_instruction(_LOAD, offset)]


def _where(jump: int, value: int, then: "list[bytes]") -> "list[bytes]":
    return [_instruction(jump, value, 0, len(then)), *then]


def _unless_equal(value: int, then: "list[bytes]") -> "list[bytes]":
    return [_instruction(_JUMP_EQUAL, value, len(then), 0), *then]


def _refuse(number: int) -> "list[bytes]":
    return _return(_ERRNO | number)


def _return(answer: int) -> "list[bytes]":
    return [_instruction(_RETURN, answer)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return code.to_bytes(2, "little") + bytes((if_true, if_false)) + value.to_bytes(4, "little")


def _prctl(option: int, value: int, third: int) -> None:
    zero = ctypes.c_ulong(0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), zero, zero) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
