"""The rows of MCP servers: they misbehave over stdio and over HTTP, and are known to the run by one file."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.activities.tools.mcp.servers import config, endpoint, rogue
from tests.faults.case import Case, Failure, Like, Success, Text

_OWN = ("dies", "crashes", "mute", "garbled", "busy")
"""Servers of one row each: what they do would be told in other rows, too, if they had any."""


@contextmanager
def mcp_servers(directory: Path) -> Generator[Path]:
    """Have all servers of the rows; gives the file that names them."""
    with endpoint(directory) as web, endpoint(directory) as mortal:
        yield config(
            directory,
            calm=rogue(),
            hasty=rogue(timeoutSeconds=2),
            stuck=rogue(timeoutSeconds=2),
            once=rogue("once"),
            later=rogue("once-mute", timeoutSeconds=2),
            stubborn=rogue("stubborn"),
            noisy=rogue(timeoutSeconds=2),
            **{name: rogue() for name in _OWN},
            web={"type": "http", "url": web},
            quick={"type": "http", "url": web, "timeoutSeconds": 2},
            mortal={"url": mortal},
        )


def _row(name: str, called: str, sees: Failure | Success, *, side_effects: int = 1) -> Case:
    return Case(f"MCP server {name}", None, sees, manifest=None, called=called, side_effects=side_effects)


def _answers(name: str, called: str, result: object) -> Case:
    return _row(name, called, Success(result))


def _crash(name: str, called: str, error: str) -> Case:
    return _row(name, called, Failure("TOOL_CRASHED", None, f"Tool 'x' crashed: its server {error}"))


def _lost(name: str, called: str, how: Text, *, stderr: str = "") -> Case:
    pattern = how.pattern if isinstance(how, Like) else how
    error = Like(rf"Tool 'x' was lost: {pattern}; it may or may not have taken effect")
    return _row(name, called, Failure("TOOL_LOST", None, error, stderr=stderr))


def _late(name: str, called: str, *, stdout: str = "", stderr: str = "") -> Case:
    return _row(name, called, Failure("TOOL_TIMEOUT", None, "Tool 'x' timed out after 2s", stdout, stderr))


def _undecodable(name: str, called: str, reason: str, stdout: Text = "") -> Case:
    error = Like(rf"Tool 'x' returned an answer that cannot be decoded: {reason}.*")
    return _row(name, called, Failure("INVALID_OUTPUT", None, error, stdout))


def _too_large(name: str, called: str, size: str) -> Case:
    error = Like(rf"Tool 'x' returned an answer{size} above the limit of 1MB; ask for less at once")
    return _row(name, called, Failure("OUTPUT_TOO_LARGE", None, error))


def _text(words: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}]}


def _never_made(name: str, called: str, reason: str) -> Case:
    failure = Failure("TOOL_CRASHED", 126, f"Tool 'x' could not be started: its server {reason}")
    return _row(name, called, failure, side_effects=0)


SLOW_MCP_CALLS = (
    _never_made("does not begin", "later__echo", "did not answer within 2s"),
    _late("answers nothing", "hasty__hangs"),
    _late("blocks for ever", "stuck__blocks"),
    _late("prints what is no message", "noisy__prints-text", stdout="this is no message\n"),
    _late("hangs over HTTP", "quick__hangs"),
    _late("hangs in its stream", "quick__hangs-in-stream"),
)

MCP_CALLS = (
    _answers("answers", "calm__echo", _text("{}")),
    _answers("answers with structure", "calm__adds", {"sum": 0}),
    _answers("says that it failed", "calm__fails", {"error": "there is no such file"}),
    _answers("fails where structure is expected", "calm__fails-with-schema", {"error": "not today"}),
    _answers("asks its client for something", "calm__asks", _text("-32600")),
    _answers("prints text before its answer", "busy__noise", _text("done")),
    _answers("ignores SIGTERM and has a daemon", "stubborn__echo", _text("{}")),
    _answers(
        "answers with a picture",
        "calm__picture",
        {
            "content": [{"type": "image", "mimeType": "image/png", "artifact": "content_1_artifact"}],
            "content_1_artifact": Like(r"/.*/store/artifacts/.*\.content-1\.png"),
        },
    ),
    _never_made(
        "cannot be started again",
        "once__echo",
        "exited with code 7 before it answered: the second start is one too many",
    ),
    _lost("exits", "dies__exits-with-3", "its server exited with code 3", stderr="last words\n"),
    _lost("is killed by SIGSEGV", "crashes__segfaults", "its server was killed by signal 11"),
    _lost("closes its stdout", "mute__closes-stdout", "its server closed its stdout"),
    _undecodable("answers with garbage", "garbled__garbage-in-braces", "Expecting", "{oops}"),
    _undecodable("answers with half a message", "calm__half-a-message", "Expecting", Like(r"\{.*")),
    _undecodable("gives the same key twice", "calm__same-key-twice", "the key 'content'", Like(r"\{.*")),
    _undecodable("gives NaN", "calm__nan", "NaN is not JSON", Like(r"\{.*")),
    _undecodable("gives what is no result", "calm__no-content", "it is no result of a tool call"),
    _undecodable("gives no structure", "calm__no-sum", "it has an outputSchema, and sent no structured"),
    _row(
        "gives another structure",
        "calm__wrong-sum",
        Failure(
            "INVALID_OUTPUT",
            None,
            "Tool 'x' returned JSON that does not match its output schema: "
            'sum: "x" is not of type "integer"',
        ),
    ),
    _too_large("answers with 40 MB", "calm__floods", r" of 40,\d+,\d+ bytes"),
    _crash("gives an error of its own", "calm__refuses", "answered with the error -32000: says -32000"),
    _crash("breaks inside", "calm__breaks-inside", "answered with the error -32603: says -32603"),
    _row(
        "refuses the params",
        "calm__refuses-params",
        Failure("INVALID_PARAMS", None, "Tool 'x' was not called, its params are invalid: says -32602"),
    ),
    _row(
        "does not know the tool",
        "calm__knows-nothing",
        Failure("TOOL_NOT_FOUND", None, "Tool 'x' is not known to its server: says -32601"),
    ),
    _answers("answers over HTTP", "web__echo", _text("{}")),
    _answers("streams its answer", "web__streams", _text("streamed")),
    _crash("says 503", "web__says-503", "answered HTTP 503 Service Unavailable"),
    _undecodable("answers with a web page", "web__page", "Unexpected content type: text/html"),
    _undecodable("gives garbage over HTTP", "web__garbage", "EOF while", '{"jsonrpc": "2.0", "id"'),
    _too_large("answers with 40 MB over HTTP", "web__floods", ""),
    _lost("cuts its answer", "web__cuts-its-answer", Like(r"the connection to its server broke: .*")),
    _lost("resets the connection", "web__resets", Like(r"the connection to its server broke: .*")),
    _lost("dies over HTTP", "mortal__dies", Like(r"the connection to its server broke: .*")),
)
