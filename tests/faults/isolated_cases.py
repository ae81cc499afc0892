"""The rows of the fault suite for Python functions in a process of their own."""

from tests.faults.case import Case, Failure, Like, Success
from tests.faults.function import NO_JSON, answered, function, late, operation_failed


def _isolated(
    name: str, body: str, sees: Failure | Success, *, kind: str = "def", timeout_seconds: float = 30
) -> Case:
    named = f"isolated function {name}"
    return function(named, body, sees, kind=kind, isolated=True, timeout_seconds=timeout_seconds)


def _dies(exit_code: int, stderr: str | Like = "") -> Failure:
    return Failure("TOOL_CRASHED", exit_code, f"Tool 'x' crashed with exit code {exit_code}", "", stderr)


def _says_nothing(stderr: str) -> Failure:
    return Failure("INVALID_OUTPUT", 0, "Tool 'x' returned invalid JSON", "", stderr)


ISOLATED_FUNCTIONS = (
    _isolated("prints and answers", "print('begun')\nos.write(1, b'{')\nreturn 1", answered(result=1)),
    _isolated("awaits and answers", "await asyncio.sleep(0)\nreturn 1", answered(result=1), kind="async def"),
    _isolated("has a bug", "return {}['a']", operation_failed("KeyError: 'a'", "internal_error")),
    _isolated("exits", "print('begun')\nsys.exit(3)", _dies(3, "begun\n")),
    _isolated("exits well", "print('begun')\nsys.exit()", _says_nothing("begun\n")),
    _isolated("leaves at once", "os.write(1, b'true')\nos._exit(0)", _says_nothing("true")),
    _isolated(
        "crashes",
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nctypes.string_at(0)",
        _dies(139),
    ),
    _isolated("kills itself", "print('begun')\nos.kill(os.getpid(), signal.SIGKILL)", _dies(137, "begun\n")),
    _isolated(
        "runs out of memory",
        "resource.setrlimit(resource.RLIMIT_AS, (2 ** 30, 2 ** 30))\nreturn len(bytearray(2 ** 31))",
        operation_failed("MemoryError", "internal_error"),
    ),
    _isolated(
        "gives NaN",
        "return float('nan')",
        _says_nothing(NO_JSON % "Out of range float values are not JSON compliant"),
    ),
    _isolated(
        "leaves a daemon",
        "subprocess.Popen(['sleep', '60'], start_new_session=True)\nreturn 1",
        answered(result=1),
    ),
    _isolated("forks, and both return", "os.fork()\nreturn 1", answered(result=1)),
)

SLOW_ISOLATED_FUNCTIONS = (
    _isolated("waits", "print('begun')\ntime.sleep(60)", late(8, "begun\n"), timeout_seconds=8),
    _isolated(
        "ignores SIGTERM",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('begun')\ntime.sleep(60)",
        late(8, "begun\n"),
        timeout_seconds=8,
    ),
    _isolated(
        "waits for a daemon",
        "print('begun')\nsubprocess.run(['sleep', '60'], start_new_session=True)",
        late(8, "begun\n"),
        timeout_seconds=8,
    ),
)
