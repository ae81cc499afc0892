"""Runs one tool so that nothing of it survives: a program of its own, which a worker starts for every call.

    main([LIFELINE, STATUS, GRACE, POLICY, EXECUTABLE, ARGUMENT])

Whatever the tool starts stays below this process, however it detaches, because orphans become its children
(`PR_SET_CHILD_SUBREAPER`, or because it is the first process of its namespace). The worker holds the other
ends of two pipes. LIFELINE: `T` on it asks everything to end and kills it GRACE seconds later; its end, be it
that the worker is dead, kills everything at once. STATUS takes lines: `began` once all is taken away that
POLICY names (`supervisor_policy.Policy`, as JSON), then `exited CODE` once the tool has ended by itself,
or `failed ERRNO` if it never started, or `exceeded LIMIT` before it is killed for that. Exit code 0 says that
nothing is left.

It needs only the standard library, and little of that: each module is paid for at every call.
"""
# Importing pathlib would take longer than all that is done here before the tool starts.
# ruff: noqa: PTH123

import os
import select
import sys
import time

from activities.tools.supervisor_limits import LOOK_SECONDS, Limits
from activities.tools.supervisor_policy import (
    PR_SET_DUMPABLE,
    give_up_privileges,
    keep_apart,
    limit,
    prctl,
    read_policy,
    wall_in,
)
from activities.tools.supervisor_processes import descendant_ids, kill_all, signal_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from activities.tools.supervisor_policy import Policy
else:
    # The C half of `signal`: the enumerations of the other half would take 4 ms of every call.
    import _signal as signal

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
KILLING_SECONDS = 3.0
"""How long it tries to be rid of processes that do not die, because the kernel or another user holds them."""


def main(arguments: "list[str]") -> int:
    """Run the tool to its end; 0 when nothing of it is left."""
    lifeline, status, grace_seconds = int(arguments[0]), int(arguments[1]), float(arguments[2])
    policy, command = read_policy(arguments[3]), arguments[4:]
    for descriptor in (lifeline, status):
        os.set_inheritable(descriptor, False)
    woken = _wake_on_endings()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # A tool may have stopped this process: then it goes on when its worker is dead.
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    environment = _environment()
    try:
        give_up_privileges()
        wall_in(policy)
    except OSError as error:
        sys.stderr.write(f"{error.strerror or error}\n")
        return 1
    # Of the same user as the tool, which else could write to this process's memory.
    prctl(PR_SET_DUMPABLE, 0)
    _tell(status, "began")
    supervisor = os.getpid()
    try:
        tool = os.fork()
    except OSError as error:
        _tell(status, f"failed {error.errno}")
        return 0
    if tool == 0:
        _become_tool(supervisor, status, command, environment, policy)
    _let_go_of_streams()
    ending = _watch(tool, Limits(policy), lifeline=lifeline, woken=woken, grace_seconds=grace_seconds)
    if ending is not None:
        _tell(status, ending)
    if ending is None or not ending.startswith("exited"):
        # Most often that is everyone, and at once, so that nobody can fork meanwhile.
        signal_all({-tool}, signal.SIGKILL)
    return 0 if _kill_descendants() else 1


def _wake_on_endings() -> int:
    """A descriptor that can be read when a child has ended; no other signal that can be held off disturbs."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _do_nothing)
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals() - {signal.SIGCHLD})
    return reader


def _do_nothing(_number: int, _frame: object) -> None:
    """Handle a signal, so that it wakes."""


def _become_tool(
    supervisor: int, status: int, command: "list[str]", environment: "dict[bytes, bytes]", policy: "Policy"
) -> None:
    try:
        # The session stays the supervisor's: by it the worker finds who is left if the supervisor is killed.
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            # Python ignores some, and a worker's parent may have ignored any.
            if signal.getsignal(number) == signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        limit(policy)
        keep_apart(policy)
        os.execve(command[0], command, environment)  # noqa: S606 - starting executables is what this is for
    except OSError as error:
        _tell(status, f"failed {error.errno}")
    finally:
        os._exit(1)


def _environment() -> "dict[bytes, bytes]":
    """What this process was given, without the LC_CTYPE that Python adds to it (PEP 538)."""
    with open("/proc/self/environ", "rb", 0) as file:
        entries = [entry.partition(b"=") for entry in file.read().split(b"\0")]
    return {name: value for name, _, value in entries if name}


def _let_go_of_streams() -> None:
    # Only the tool holds them: the worker sees when it closes one.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _watch(tool: int, limits: Limits, *, lifeline: int, woken: int, grace_seconds: float) -> "str | None":
    """Wait for its end, or for a limit that was exceeded, and give what STATUS takes; None: kill it."""
    deadline: float | None = None
    poll = select.poll()
    for descriptor in (lifeline, woken):
        poll.register(descriptor, select.POLLIN)
    while True:
        left_seconds = None if deadline is None else deadline - time.monotonic()
        if left_seconds is not None and left_seconds <= 0:
            return None
        ready = {descriptor for descriptor, _ in poll.poll(_pause_ms(limits, left_seconds))}
        if woken in ready:
            os.read(woken, 4096)
            exit_code = _reap(tool)
            if exit_code is not None:
                return f"exited {exit_code}"
        if lifeline in ready:
            if os.read(lifeline, 1) != b"T":
                return None
            deadline = time.monotonic() + grace_seconds
            signal_all(descendant_ids(), signal.SIGTERM)
        if limits.any and (limit_exceeded := limits.exceeded()) is not None:
            return f"exceeded {limit_exceeded}"


def _pause_ms(limits: Limits, left_seconds: "float | None") -> "float | None":
    look_seconds = LOOK_SECONDS if limits.any else None
    pauses = [seconds for seconds in (look_seconds, left_seconds) if seconds is not None]
    return 1000 * min(pauses) if pauses else None


def _reap(tool: int) -> "int | None":
    """Reap who has ended; the tool's exit code if it has, 128+n when signal n killed it."""
    exit_code: int | None = None
    while (child := _reap_one()) is not None:
        ended, state = child
        if ended == 0:
            break
        if ended == tool:
            code = os.waitstatus_to_exitcode(state)
            exit_code = code if code >= 0 else 128 - code
    return exit_code


def _reap_one() -> "tuple[int, int] | None":
    """One child that has ended and its state; 0 if all still live, None if there is none."""
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None


def _kill_descendants() -> bool:
    """Kill and reap until this process is alone: every orphan below it becomes its child."""
    deadline, pause_seconds = time.monotonic() + KILLING_SECONDS, 0.001
    while True:
        while (child := _reap_one()) is not None and child[0] != 0:
            pass
        if child is None:
            return True
        if time.monotonic() > deadline:
            return False
        _kill_all()
        time.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, 0.05)


def _kill_all() -> None:
    if os.getpid() == 1:
        # The first process of a namespace reaches everyone in it, and nobody outside.
        signal_all({-1}, signal.SIGKILL)
    else:
        kill_all(descendant_ids)


def _tell(status: int, line: str) -> None:
    try:
        os.write(status, f"{line}\n".encode())
    except OSError:
        # The worker is dead: nobody wants to know.
        return


def end_with(exit_code: int) -> None:
    """End this process; nothing is left to clean up, and the interpreter's own way out takes milliseconds."""
    os._exit(exit_code)
