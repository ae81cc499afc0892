"""Runs one tool so that nothing of it survives: a program of its own, which a worker starts for every call.

    supervisor LIFELINE STATUS GRACE EXECUTABLE ARGUMENT

Whatever the tool starts stays below this process, however it detaches, because orphans become its children
(`PR_SET_CHILD_SUBREAPER`). The worker holds the other ends of two pipes. LIFELINE: `T` on it asks everything
to end and kills it GRACE seconds later; its end, be it that the worker is dead, kills everything at once.
STATUS takes one line: `exited CODE` as soon as the tool has ended by itself, or `failed ERRNO` if it never
started. Exit code 0 says that nothing is left.

It needs only the standard library, and little of that: each module is paid for at every call.
"""
# Importing pathlib would take longer than all that is done here before the tool starts.
# ruff: noqa: PTH123, PTH208

import ctypes
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator
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
    for descriptor in (lifeline, status):
        os.set_inheritable(descriptor, False)
    woken = _wake_on_endings()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # A tool may have stopped this process: then it goes on when its worker is dead.
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    supervisor = os.getpid()
    try:
        tool = os.fork()
    except OSError as error:
        _tell(status, f"failed {error.errno}")
        return 0
    if tool == 0:
        _become_tool(supervisor, status, arguments[3:])
    _let_go_of_streams()
    exit_code = _watch(tool, lifeline=lifeline, woken=woken, grace_seconds=grace_seconds)
    if exit_code is not None:
        _tell(status, f"exited {exit_code}")
    return 0 if _kill_descendants() else 1


def kill_all(find: "Callable[[], set[int]]") -> None:
    """Kill what `find` gives; all are stopped first, or one could fork while the others are killed."""
    stopped: set[int] = set()
    while fresh := find() - stopped:
        _signal_all(fresh, signal.SIGSTOP)
        stopped |= fresh
    _signal_all(stopped, signal.SIGKILL)


def processes() -> "Iterator[tuple[int, int, int]]":
    """Process, parent and session of everyone who lives; empty where /proc cannot be read."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb", 0) as file:
                # Its name, in parentheses, may hold anything: what counts comes after the last one.
                state, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if state not in {b"Z", b"X"}:
            yield int(name), int(parent), int(session)


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process (`man 2 prctl`)."""
    zero = ctypes.c_ulong(0)
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), zero, zero, zero)


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


def _become_tool(supervisor: int, status: int, command: "list[str]") -> None:
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
        os.execve(command[0], command, _environment())  # noqa: S606 - starting executables is what this is for
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


def _watch(tool: int, *, lifeline: int, woken: int, grace_seconds: float) -> "int | None":
    """Wait for the tool's exit code, or for the time to kill it: None."""
    deadline: float | None = None
    poll = select.poll()
    for descriptor in (lifeline, woken):
        poll.register(descriptor, select.POLLIN)
    while True:
        left_seconds = None if deadline is None else deadline - time.monotonic()
        if left_seconds is not None and left_seconds <= 0:
            return None
        ready = {descriptor for descriptor, _ in poll.poll(left_seconds and left_seconds * 1000)}
        if woken in ready:
            os.read(woken, 4096)
            exit_code = _reap(tool)
            if exit_code is not None:
                return exit_code
        if lifeline in ready:
            if os.read(lifeline, 1) != b"T":
                return None
            deadline = time.monotonic() + grace_seconds
            _signal_all(_descendants(), signal.SIGTERM)


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
        kill_all(_descendants)
        time.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, 0.05)


def _descendants() -> "set[int]":
    """Everyone below this process."""
    children: dict[int, list[int]] = {}
    for process, parent, _ in processes():
        children.setdefault(parent, []).append(process)
    found = _own_children()
    level = children.get(os.getpid(), [])
    while level:
        found.update(level)
        level = [child for process in level for child in children.get(process, [])]
    return found


def _own_children() -> "set[int]":
    """The children that the kernel lists, among them those that a /proc with `hidepid` does not show."""
    try:
        with open("/proc/thread-self/children", "rb", 0) as file:
            return {int(process) for process in file.read().split()}
    except OSError:
        return set()


def _signal_all(targets: "set[int]", number: int) -> None:
    for process in targets:
        try:
            os.kill(process, number)
        except OSError:
            # Ended meanwhile, or another user's.
            continue


def _tell(status: int, line: str) -> None:
    try:
        os.write(status, f"{line}\n".encode())
    except OSError:
        # The worker is dead: nobody wants to know.
        return


if __name__ == "__main__":
    # Nothing is left to clean up, and the interpreter's own way out takes milliseconds.
    os._exit(main(sys.argv[1:]))
