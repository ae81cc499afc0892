"""The rows of the fault suite for Python functions on a worker's event loop, and in its threads."""

from activities.tools.functions.invocation import IGNORES_ITS_CANCEL, IN_A_THREAD
from tests.faults.case import Failure, Like, Success
from tests.faults.function import NO_JSON, answered, function, late, operation_failed
from tests.faults.large_cases import WHOLE


def _no_json(reason: str, stdout: str | Like = "") -> Failure:
    said = NO_JSON % reason
    return Failure("INVALID_OUTPUT", None, "Tool 'x' returned invalid JSON", stdout, said)


def _crashed(reason: str) -> Failure:
    return Failure("TOOL_CRASHED", None, f"Tool 'x' crashed: {reason}")


_TOO_SLOW = "Too many requests"

FUNCTIONS = (
    function("function answers", "print('noise')\nreturn {'n': 1}", answered(n=1)),
    function("function answers from a thread", "return [1]", answered(result=[1]), kind="def"),
    function(
        "function says no",
        "return {'success': False, 'error': 'no key'}",
        Success({"success": False, "error": "no key"}),
    ),
    function(
        "function returns a failed result",
        "return ToolResult(False, message='gone', error_code='not_found')",
        operation_failed("gone", "not_found", name="", results=[]),
        returns="ToolResult[Found]",
    ),
    function(
        "function raises a tool error",
        "raise ToolError('gone', 'not_found', name='Uji')",
        operation_failed("gone", "not_found", name="Uji", results=[]),
        returns="Found",
    ),
    function("function has a bug", "return {}['a']", operation_failed("KeyError: 'a'", "internal_error")),
    function(
        "function has a bug in a thread",
        "return 1 / 0",
        operation_failed("ZeroDivisionError: division by zero", "internal_error"),
        kind="def",
    ),
    function(
        "function gives up by itself",
        "async with asyncio.timeout(0.01):\n    await asyncio.sleep(60)",
        operation_failed("TimeoutError", "timeout"),
    ),
    function(
        "function meets a rate limit",
        f"raise urllib.error.HTTPError('http://127.0.0.1/', 429, '{_TOO_SLOW}', {{}}, None)",
        operation_failed(f"HTTP Error 429: {_TOO_SLOW}", "rate_limited"),
        kind="def",
    ),
    function(
        "function meets a refused connection",
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/')",
        operation_failed(Like(".*Connection refused.*"), "external_service_error"),
        kind="def",
    ),
    function(
        "function has a task group that fails",
        "async with asyncio.TaskGroup() as g:\n    g.create_task(asyncio.wait_for(asyncio.sleep(60), 0))",
        operation_failed("TimeoutError", "timeout"),
    ),
    function(
        "function recurses for ever",
        "again = lambda: again()\nagain()",
        operation_failed(Like("RecursionError: .*"), "internal_error"),
    ),
    function("function exits", "sys.exit(3)", _crashed("SystemExit: 3")),
    function("function exits in a thread", "sys.exit(3)", _crashed("SystemExit: 3"), kind="def"),
    function("function interrupts", "raise KeyboardInterrupt", _crashed("KeyboardInterrupt")),
    function("function is cancelled by itself", "raise asyncio.CancelledError", _crashed("CancelledError")),
    function(
        "function gives what raises when it is read",
        "class Odd(dict):\n    def items(self): raise KeyError('a')\nreturn [Odd(a=1)]",
        _crashed("KeyError: 'a'"),
    ),
    function(
        "function gives NaN",
        "return float('nan')",
        _no_json("Out of range float values are not JSON compliant"),
    ),
    function("function gives bytes", "return b'x'", _no_json("a value of type bytes is no JSON")),
    function(
        "function gives a coroutine",
        "inner = asyncio.sleep(0)\ninner.close()\nreturn [inner]",
        _no_json("a value of type coroutine is no JSON"),
    ),
    function(
        "function gives a lone surrogate",
        "return chr(0xD800)",
        _no_json("a lone surrogate in a string", '{"success": true, "error": null, "result": "\ufffd"}'),
    ),
    function(
        "function gives itself", "a = []\na.append(a)\nreturn a", _no_json("Circular reference detected")
    ),
    function(
        "function nests too deep",
        "a = []\nfor _ in range(200): a = [a]\nreturn a",
        _no_json("nested deeper than 100", Like(".*")),
    ),
    function(
        "function gives another type",
        "return {'name': 1, 'results': []}",
        Failure(
            "INVALID_OUTPUT",
            None,
            "Tool 'x' returned JSON that does not match its output schema: name: 1 is not of type \"string\"",
            '{"success": true, "error": null, "name": 1, "results": []}',
        ),
        returns="Found",
    ),
    function(
        "function gives too much",
        "return 'x' * 2_000_000",
        Failure(
            "OUTPUT_TOO_LARGE",
            None,
            "Tool 'x' returned an answer of 2,000,046 bytes above the limit of 1MB; ask for less at once",
            Like('{"success".*x"}'),
        ),
    ),
    function(
        "function gives too many values",
        "return [0] * 60_000",
        Failure(
            "OUTPUT_TOO_LARGE",
            None,
            "Tool 'x' returned an answer of more than 50,000 values; ask for less at once",
            Like('{"success".*0]}'),
        ),
        limits=WHOLE,
    ),
)

SLOW_FUNCTIONS = (
    function("function waits", "await asyncio.sleep(60)", late(2, ""), timeout_seconds=2),
    function(
        "function answers when it is cancelled",
        "try:\n    await asyncio.sleep(60)\nexcept asyncio.CancelledError:\n    return 1",
        late(2, ""),
        timeout_seconds=2,
    ),
    function(
        "function fails when it is cancelled",
        "try:\n    await asyncio.sleep(60)\nfinally:\n    raise KeyError",
        late(2, ""),
        timeout_seconds=2,
    ),
    function(
        "function ignores its cancel",
        "while True:\n    try: await asyncio.sleep(60)\n    except asyncio.CancelledError: pass",
        late(2, IGNORES_ITS_CANCEL),
        timeout_seconds=2,
    ),
    function(
        "function waits in a thread", "time.sleep(60)", late(2, IN_A_THREAD), kind="def", timeout_seconds=2
    ),
    function(
        "function computes in a thread",
        "end = time.monotonic() + 4\nwhile time.monotonic() < end: pass",
        late(2, IN_A_THREAD),
        kind="def",
        timeout_seconds=2,
    ),
)
