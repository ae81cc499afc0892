"""What a supervisor takes away: from itself before the tool starts, and so from all that the tool starts."""

import _json
import ctypes
import os
import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Policy(TypedDict):
        """What the worker says, as one JSON object."""

        level: str
        """bwrap: this process is the first one of its namespaces; landlock: it walls itself in; none."""
        network: bool
        """Whether the walls let the network through."""
        read: list[str]
        """At landlock: what can be read and executed."""
        write: list[str]
        """At landlock: what can be written, too."""
        processes: int | None
        """How many may live at a time."""
        memory_bytes: int | None
        """What all together may hold in memory."""
        open_files: int | None
        """How many descriptors one process may have."""
        file_size_bytes: int | None
        """How large a file may grow."""
        cpu_seconds: int | None
        """How much of a processor's time one process may take."""


PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_NOT_FOR_OTHERS_TO_WRITE = 0o022


class _Json:
    """What the C half of `json` asks for: the other half would take 15 ms of every call."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int
    memo: "dict[str, str]" = {}  # noqa: RUF012 - the scanner empties it


def read_policy(text: str) -> "Policy":
    """Read the one argument that says it all."""
    # What is published of its types asks for a scanner in the place of what a scanner is made from.
    policy: Policy = _json.make_scanner(_Json)(text, 0)[0]  # pyright: ignore[reportArgumentType]
    return policy


def prctl(option: int, value: int, third: int = 0) -> int:
    """Set an attribute of this process (`man 2 prctl`); 0 if it could be."""
    zero = ctypes.c_ulong(0)
    result: int = ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(third), zero, zero)
    return result


def give_up_privileges() -> None:
    """Have no capability, and nothing that is started ever get one, whoever's it is.

    Raises:
        OSError: the kernel lets capabilities not be given up.
    """
    if prctl(PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError("it cannot give up new privileges")
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(_LAST_CAPABILITY + 1):
        # Refused to who has none, and past the last that the kernel knows.
        if prctl(PR_CAPBSET_DROP, capability) != 0:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capset(header, nothing) != 0:
        raise OSError("it cannot give up its capabilities")
    os.umask(os.umask(_NOT_FOR_OTHERS_TO_WRITE) | _NOT_FOR_OTHERS_TO_WRITE)


def wall_in(policy: "Policy") -> None:
    """Put up the walls of this level that a process puts up around itself, for good.

    Raises:
        OSError: they could not be put up, or not all of them.
    """
    level, network = policy["level"], policy["network"]
    if level == "none":
        return
    # Each is paid for at every call.
    from activities.tools.sandbox import seccomp

    if level == "landlock":
        from activities.tools.sandbox import landlock

        landlock.restrict(policy["read"], policy["write"], network=network)
    # In namespaces of its own there is a network that leads nowhere.
    seccomp.install(network=network or level == "bwrap")


def keep_apart(policy: "Policy") -> None:
    """Put the tool out of reach of who put up the walls; called where the tool is about to be started.

    Raises:
        OSError: it could not be done.
    """
    if policy["level"] != "none":
        from activities.tools.sandbox import landlock

        # In namespaces of its own, too: a network that is not its own has the abstract sockets of everybody.
        landlock.keep_apart()


def limit(policy: "Policy") -> None:
    """Set the limits that the kernel holds each process to; called where the tool is about to be started."""
    memory_bytes = policy["memory_bytes"]
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: policy["open_files"],
        resource.RLIMIT_FSIZE: policy["file_size_bytes"],
        resource.RLIMIT_CPU: policy["cpu_seconds"],
        # What is reserved and never touched counts here, such as the stacks of threads: hence twice as much.
        resource.RLIMIT_DATA: None if memory_bytes is None else 2 * memory_bytes,
    }
    if policy["level"] == "bwrap":
        # Elsewhere it counts everything that its user runs.
        limits[resource.RLIMIT_NPROC] = policy["processes"]
    for kind, wanted in limits.items():
        if wanted is not None:
            hard = resource.getrlimit(kind)[1]
            lower = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (lower, lower))
