"""The table of the fault suite: every way for a tool call to go that needs no worker of its own.

The calls of one group are made side by side in one turn; all groups are turns of one run. In the texts 'x'
and DIR/x stand for the tool and its executable, and QUEUE for a queue that nobody serves.
"""

from collections.abc import Sequence

from tests.faults.case import EFFECTS, Case, Failure, Like, Program, Success, python, shell
from tests.faults.file_cases import FILES
from tests.faults.function_cases import FUNCTIONS, SLOW_FUNCTIONS
from tests.faults.isolated_cases import ISOLATED_FUNCTIONS, SLOW_ISOLATED_FUNCTIONS
from tests.faults.large_cases import ANSWERS_OF_A_TURN, INPUTS_OF_A_TURN, SINGLE_INPUT
from tests.faults.mcp_cases import MCP_CALLS, SLOW_MCP_CALLS

CUT = r"\n\.\.\. \[[\d,]+ more bytes\] \.\.\.\n\n\[OUTPUT TRUNCATED - exceeded %s limit\]\n"
MANY_X = Like(f"x+{CUT % '10KB'}x+")

_SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
_SOON = {"timeoutSeconds": 2}


def _timeout(name: str, body: str | Program, *, stdout: str | Like = "begun\n") -> Case:
    program = shell(body) if isinstance(body, str) else body
    sees = Failure("TOOL_TIMEOUT", None, "Tool 'x' timed out after 2s", stdout)
    return Case(name, program, sees, manifest=_SOON)


TIMEOUTS = (
    _timeout("says nothing", "exec sleep 60", stdout=""),
    _timeout(
        "prints all the time",
        python("while True: print('line', flush=True); time.sleep(0.2)"),
        stdout=Like("(line\n){2,}"),
    ),
    _timeout("floods stdout for ever", "exec yes", stdout=Like(rf"[y\n]+{CUT % '10KB'}[y\n]+")),
    _timeout("stops in half an answer", "printf '{\"half\":'; exec sleep 60", stdout='{"half":'),
    _timeout("answers and does not end", "echo true; exec sleep 60", stdout="true\n"),
    _timeout("closes its output and hangs", "exec >&- 2>&-; exec sleep 60", stdout=""),
    _timeout("ignores SIGTERM", "trap '' TERM HUP INT; echo begun; while :; do sleep 1; done"),
    _timeout(
        "says goodbye on SIGTERM",
        "trap 'echo bye; exit 0' TERM; echo begun; sleep 60 & wait",
        stdout="begun\nbye\n",
    ),
    _timeout("stops itself with SIGSTOP", "echo begun; kill -STOP $$"),
    _timeout("waits for its children", "echo begun; sleep 60 & sleep 60 & wait"),
    _timeout("has a child in a session of its own", "echo begun; setsid sleep 60 & exec sleep 60"),
    _timeout("has a daemon by double fork", "echo begun; (setsid sh -c 'sleep 60 &' &); exec sleep 60"),
    _timeout(
        "has a daemon that ignores SIGTERM",
        "echo begun; setsid sh -c 'trap \"\" TERM HUP; sleep 60; :' 2>&- & exec sleep 60",
    ),
    # A shell may still say that its child was terminated, if that dies first.
    _timeout(
        "has a daemon without its environment",
        'echo begun; env -i setsid sh -c "sleep 60; :" "$SUREFOOT_CALL_ID" 2>&- & exec sleep 60',
    ),
    _timeout(
        "forks again and again",
        python("""
print("begun", flush=True)
if os.fork():
    time.sleep(60)
end = time.monotonic() + 30
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.02)
"""),
    ),
)


def _crash(
    name: str,
    body: str | Program,
    code: int,
    *,
    stdout: str | Like = "begun\n",
    stderr: str | Like = "",
    beforehand: str | None = None,
) -> Case:
    program = shell(body) if isinstance(body, str) else body
    sees = Failure("TOOL_CRASHED", code, f"Tool 'x' crashed with exit code {code}", stdout, stderr)
    return Case(name, program, sees, beforehand=beforehand)


CRASHES = (
    _crash("exits with 1", "echo begun; echo why >&2; exit 1", 1, stderr="why\n"),
    _crash("exits with 2", "echo begun; exit 2", 2),
    _crash("exits with 126 itself", "echo begun; exit 126", 126),
    _crash("exits with 127 itself", "echo begun; exit 127", 127),
    _crash("exits with 255", "echo begun; exit 255", 255),
    _crash("answers and then fails", "echo '{\"ok\": true}'; exit 1", 1, stdout='{"ok": true}\n'),
    _crash("is killed by SIGSEGV", "echo begun; kill -SEGV $$", 139),
    _crash("is killed by SIGABRT", "echo begun; kill -ABRT $$", 134),
    _crash("is killed by SIGBUS", "echo begun; kill -BUS $$", 135),
    _crash("is killed by SIGKILL", "echo begun; kill -KILL $$", 137),
    _crash("is killed by SIGTERM", "echo begun; kill -TERM $$", 143),
    _crash("is killed by SIGPIPE", "echo begun; kill -PIPE $$", 141),
    _crash("is killed by SIGINT", "echo begun; kill -INT $$", 130),
    _crash("kills its own process group", "echo begun; sleep 60 & kill -KILL 0", 137),
    _crash(
        "fails with children left behind",
        "echo begun; sleep 60 & setsid sleep 60 & (setsid sh -c 'sleep 60 &' &); exit 3",
        3,
    ),
    _crash(
        "hits the limit on a file's size",
        "echo begun; ulimit -f 8; exec head -c 1000000 /dev/zero > filler",
        153,
    ),
    _crash(
        "raises in Python",
        python("print('begun', flush=True); {}['a']"),
        1,
        stderr=Like("Traceback .*KeyError: 'a'\n"),
    ),
    _crash(
        "writes what is not text",
        r"printf '\377\000\001'; printf '\200\033[31m\000' >&2; exit 1",
        1,
        stdout="\ufffd\0\x01",
        stderr="\ufffd\x1b[31m\0",
    ),
    _crash(
        "floods stderr and fails",
        "echo begun; head -c 20000000 /dev/zero | tr '\\0' e >&2; exit 4",
        4,
        stderr=Like(f"e+{CUT % '4KB'}e+"),
    ),
    _crash(
        "says in its last line why",
        "head -c 50000 /dev/zero | tr '\\0' x; echo; echo disk full; exit 5",
        5,
        stdout=Like(f"x+{CUT % '10KB'}x+\ndisk full\n"),
    ),
)


def _not_started(
    name: str, program: Program, code: int, reason: str, *, beforehand: str | None = None
) -> Case:
    sees = Failure("TOOL_CRASHED", code, f"Tool 'x' could not be started: {reason}")
    return Case(name, program, sees, beforehand=beforehand, side_effects=0)


_NOT_A_PROGRAM = "DIR/x is neither a program for this machine nor a script with a #! line"

NOT_STARTED = (
    _not_started(
        "has no x bit", Program(b"#!/bin/sh\ntrue\n", 0o644), 126, "DIR/x is not executable (chmod +x)"
    ),
    _not_started(
        "has an interpreter that is missing",
        Program(b"#!/no/such/interpreter\n"),
        127,
        "its interpreter '/no/such/interpreter' was not found",
    ),
    _not_started(
        "has an interpreter that is no program",
        Program(b"#!/etc/passwd\n"),
        126,
        "its interpreter '/etc/passwd' is not executable",
    ),
    _not_started(
        "has Windows line ends",
        Program(b"#!/bin/sh\r\necho true\r\n"),
        127,
        r"its interpreter '/bin/sh\r' was not found",
    ),
    _not_started("is a directory", Program(None), 126, "DIR/x is a directory"),
    _not_started("is an empty file", Program(b""), 126, _NOT_A_PROGRAM),
    _not_started("is text without a shebang", Program(b"echo true\n"), 126, _NOT_A_PROGRAM),
    _not_started("is a broken binary", Program(b"\x7fELF\x02\x01\x01\0garbage"), 126, _NOT_A_PROGRAM),
    _not_started(
        "was deleted after the run began",
        shell("echo true"),
        127,
        "there is no file DIR/x",
        beforehand="rm was-deleted-after-the-run-began",
    ),
)


def _garbage(name: str, body: str, stdout: str | Like, *, stderr: str = "") -> Case:
    sees = Failure("INVALID_OUTPUT", 0, "Tool 'x' returned invalid JSON", stdout, stderr)
    return Case(name, shell(body), sees)


def _prints(name: str, text: str) -> Case:
    """A case for a tool that prints exactly this, in octal escapes, for `printf` knows no others."""
    octal = "".join(f"\\{byte:03o}" for byte in text.encode())
    return _garbage(name, f"printf '{octal}'", text)


GARBAGE = (
    _prints("prints nothing", ""),
    _prints("prints blanks only", " \n\t\n"),
    _prints("prints half an object", '{"a": [1, 2'),
    _prints("prints two values", '{"a": 1}\n{"a": 2}\n'),
    _prints("prints text after its answer", '{"a": 1} done\n'),
    _prints("prints a log line first", 'INFO starting\n{"a": 1}\n'),
    _prints("prints NaN", '{"a": NaN}'),
    _prints("prints minus Infinity", "[-Infinity]"),
    _prints("prints a number that overflows", "[1e999]"),
    _prints("prints an integer of 5,000 digits", "7" * 5_000),
    _prints("prints a byte order mark", '\ufeff{"a": 1}'),
    _prints("prints the same key twice", '{"a": 1, "a": 2}'),
    _prints("prints a lone surrogate", r'["\ud800"]'),
    _prints("prints brackets 200 deep", "[" * 200 + "]" * 200),
    _prints("prints a Python dict", "{'a': None, 'b': True}"),
    _prints("prints an HTML page", "<!DOCTYPE html><h1>502 Bad Gateway</h1>"),
    _prints("prints NUL bytes", '{"a": "\0"}'),
    _prints("prints a single quote mark", '"'),
    _garbage("prints Latin-1", r"""printf '{"a": "caf\351"}'""", '{"a": "caf\ufffd"}'),
    _garbage("prints UTF-16", r"printf '\377\376{\000}\000'", "\ufffd\ufffd{\0}\0"),
    _garbage("closes stdout", "exec >&-; exit 0", ""),
    _garbage("closes stdout in half an answer", "printf '[1,'; exec >&-; exit 0", "[1,"),
    _garbage("answers on stderr", "echo '{\"a\": 1}' >&2", "", stderr='{"a": 1}\n'),
)


def _mismatch(name: str, answer: str, problem: str) -> Case:
    error = f"Tool 'x' returned JSON that does not match its output schema: {problem}"
    sees = Failure("INVALID_OUTPUT", 0, error, f"{answer}\n")
    return Case(name, shell(f"echo '{answer}'"), sees, manifest={"outputSchema": _SCHEMA})


def _too_large(name: str, body: str, size: str, *, stdout: Like = MANY_X) -> Case:
    error = f"Tool 'x' returned an answer{size}; ask for less at once"
    return Case(name, shell(body), Failure("OUTPUT_TOO_LARGE", 0, error, stdout))


ANSWERS = (
    _mismatch("answers with a wrong type", '{"count": "3"}', 'count: "3" is not of type "integer"'),
    _mismatch("answers without a field", '{"n": 3}', "count: required, and missing"),
    _mismatch("answers with a list", "[3]", '[3] is not of type "object"'),
    _too_large(
        "answers with a little over 1 MiB",
        "printf '\"'; head -c 1048575 /dev/zero | tr '\\0' x; printf '\"'",
        " of 1,048,577 bytes above the limit of 1MB",
        stdout=Like(f'"x+{CUT % "10KB"}x+"'),
    ),
    _too_large(
        "answers with 5 MB",
        "printf '\"'; head -c 5000000 /dev/zero | tr '\\0' x; printf '\"'",
        " of 5,000,002 bytes above the limit of 1MB",
        stdout=Like(f'"x+{CUT % "10KB"}x+"'),
    ),
    _too_large(
        "floods stdout with 50 MB",
        "head -c 50000000 /dev/zero | tr '\\0' x",
        " of 50,000,000 bytes above the limit of 1MB",
    ),
    _too_large(
        "answers with 60,000 values",
        "printf '[0'; head -c 60000 /dev/zero | sed 's/\\x00/,0/g'; printf ']'",
        " of more than 50,000 values",
        stdout=Like(rf"\[0,.*{CUT % '10KB'}.*,0\]"),
    ),
)


def _refused(name: str, sees: Failure, **fields: object) -> Case:
    return Case(name, None, sees, side_effects=0, **fields)  # pyright: ignore[reportArgumentType]  each row names what it needs


def _invalid(name: str, params: object, problem: str) -> Case:
    error = f"Tool 'x' was not called, its params are invalid: {problem}"
    return Case(
        name,
        shell("echo true"),
        Failure("INVALID_PARAMS", None, error),
        params,  # pyright: ignore[reportArgumentType]  wrong on purpose
        {"inputSchema": {**_SCHEMA, "additionalProperties": False}},
        side_effects=0,
    )


REFUSED = (
    _invalid("is called without a parameter", {}, "count: required, and missing"),
    _invalid("is called with a wrong type", {"count": "3"}, 'count: "3" is not of type "integer"'),
    _invalid(
        "is called with a field too many",
        {"count": 3, "colour": "red"},
        "the object: has no such field: colour",
    ),
    _invalid("is called with a list", [3], "expected a JSON object, and got array"),
    _invalid(
        "is called with text that is no JSON",
        "{count: 3",
        "expected a JSON object, and got text that is not one (Expecting property name enclosed in double "
        "quotes at character 1)",
    ),
    _refused(
        "a tool whose name is close to another",
        Failure("TOOL_NOT_FOUND", None, "There is no tool 'bsh'; did you mean 'bash'?"),
        called="bsh",
        manifest=None,
    ),
    _refused(
        "a tool whose name is a path",
        Failure("TOOL_NOT_FOUND", None, Like(r"There is no tool '\.\./\.\./bin/sh'; .*")),
        called="../../bin/sh",
        manifest=None,
    ),
    _refused(
        "a name that is an activity's",
        Failure("TOOL_NOT_FOUND", None, Like("There is no tool 'llm_turn'; .*")),
        called="llm_turn",
        manifest=None,
    ),
    _refused(
        "nobody serves its queue",
        Failure(
            "TOOL_INVOCATION_TIMEOUT",
            None,
            "Tool 'x' was not picked up within 1s on 'QUEUE': nobody listens on this queue",
        ),
        manifest={"executorQueue": "QUEUE", "pickupTimeoutSeconds": 1},
    ),
)


def _works(name: str, body: str, result: object = True) -> Case:
    return Case(name, shell(body), Success(result))


def _bash(name: str, command: str, *, timeout: int = 30, **result: object) -> Case:
    given = {"stdout": "", "stderr": "", "exit_code": 0, "truncated": False}
    return Case(
        name,
        None,
        Success({**given, **result}),
        {"command": f'echo "$SUREFOOT_CALL_ID" >> {EFFECTS}; {command}', "timeout": timeout},
        manifest=None,
        called="bash",
    )


SUCCESSES = (
    _works("leaves a child that holds stdout", "sleep 60 & echo true"),
    _works("leaves a child in a session of its own", "setsid sleep 60 & echo true"),
    _works("leaves a daemon by double fork", "(setsid sh -c 'sleep 60 &' &); echo true"),
    _works("leaves a child that ignores SIGTERM", "(trap '' TERM HUP; sleep 60; :) & echo true"),
    _works("leaves a child that would print more", "(sleep 5; echo noise; sleep 60) & echo true"),
    _works(
        "leaves a daemon without environment",
        'env -i setsid sh -c "sleep 60; :" "$SUREFOOT_CALL_ID" & echo true',
    ),
    _works("leaves fifty children", "for i in $(seq 50); do sleep 60 & done; echo true"),
    _works("floods stderr and answers", "head -c 20000000 /dev/zero | tr '\\0' e >&2; echo true"),
    _works("answers null", "echo null", None),
    _works("answers that the operation failed", "echo '{\"success\": false}'", {"success": False}),
    _works("reads stdin to its end", "cat; echo true"),
    _works("fills a file", "head -c 5000000 /dev/zero > big-file; echo true"),
    _bash(
        "bash prints more than is shown",
        "seq 100000",
        truncated=True,
        stdout_artifact=Like(r"/.*/store/artifacts/.*\.stdout\.txt"),
        stdout=Like(
            r"1\n2\n.*\n\.\.\. \[[\d,]+ more bytes\] \.\.\.\n\n\[OUTPUT TRUNCATED - exceeded 10KB limit\]"
        ),
    ),
    _bash("bash kills itself", "echo begun; kill -KILL $$", stdout="begun\n", exit_code=137),
    _bash("bash leaves a daemon", "setsid sleep 60 & echo begun", stdout="begun\n"),
    _bash("bash leaves a child that holds stdout", "sleep 60 & echo begun", stdout="begun\n"),
    _bash(
        "bash runs past its timeout",
        "echo begun; setsid sleep 60 & exec sleep 60",
        timeout=1,
        stdout="begun\n",
        exit_code=124,
        error="Command timed out after 1s",
    ),
)

GROUPS: Sequence[Sequence[Case]] = (
    TIMEOUTS,
    CRASHES,
    (*NOT_STARTED, *REFUSED),
    GARBAGE,
    ANSWERS,
    SUCCESSES,
    FILES,
    SINGLE_INPUT,
    INPUTS_OF_A_TURN,
    ANSWERS_OF_A_TURN,
    FUNCTIONS,
    ISOLATED_FUNCTIONS,
    (*SLOW_FUNCTIONS, *SLOW_ISOLATED_FUNCTIONS, *SLOW_MCP_CALLS),
    MCP_CALLS,
)

CASES: tuple[Case, ...] = tuple(case for group in GROUPS for case in group)
