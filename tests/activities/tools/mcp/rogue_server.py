"""An MCP server without the SDK, which starts in no time and does what its tools' names say.

    rogue_server.py [MODE]

It needs only the standard library.
"""
# What it is sent may be anything, and to import pathlib takes longer than all else here.
# ruff: noqa: ANN401, PTH109, PTH110, PTH123

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

Act = Callable[[Any, Any], None]
MODE = sys.argv[1] if len(sys.argv) > 1 else ""
EFFECTS = "side-effects"
MODERN = "2026-07-28"

ANY = {"type": "object"}
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def send(**message: Any) -> None:
    if MODE == "modern" and isinstance(message.get("result"), dict):
        message["result"] |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    say(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


def error(code: int) -> Act:
    def act(request: Any, params: Any) -> None:
        send(id=request, error={"code": code, "message": f"says {code}", "data": {"why": [1]}})

    return act


def result(value: Any) -> Act:
    return lambda request, params: send(id=request, result=value)


def raw(line: str) -> Act:
    return lambda request, params: say(line.replace("ID", str(request)) + "\n")


def dies(code: int) -> Act:
    def act(request: Any, params: Any) -> None:
        sys.stderr.write("last words\n")
        os._exit(code)

    return act


def killed(request: Any, params: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hangs(request: Any, params: Any) -> None:
    """Answer nothing; everything else is still served."""


def blocks(request: Any, params: Any) -> None:
    time.sleep(60)


def later(request: Any, params: Any) -> None:
    def answer() -> None:
        time.sleep(params["arguments"].get("seconds", 0.3))
        send(id=request, result=text("late"))

    threading.Thread(target=answer, daemon=True).start()


def floods(request: Any, params: Any) -> None:
    say(f'{{"jsonrpc": "2.0", "id": {request}, "result": {{"content": [{{"type": "text", "text": "')
    for _ in range(40):
        say("x" * 1_000_000)
    say('"}]}}\n')


def chatters(request: Any, params: Any) -> None:
    while True:
        say("y\n" * 30_000)


def noise(request: Any, params: Any) -> None:
    say("INFO doing it\n[INFO] still\n{'a': 1}\n" + '{"level": "info", "text": "yes"}\n42\n')
    send(id=request, result=text("done"))


def logs(request: Any, params: Any) -> None:
    send(method="notifications/message", params={"level": "warning", "data": "careful"})
    token = params["_meta"]["progressToken"]
    send(method="notifications/progress", params={"progressToken": token, "progress": 1, "total": 2})
    sys.stderr.write("on stderr\n")
    sys.stderr.flush()
    send(id=request, error={"code": -32000, "message": "no"})


def asks(request: Any, params: Any) -> None:
    send(id="q", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
    ASKED["q"] = lambda answer: send(id=request, result=text(json.dumps(answer["error"]["code"])))


def forks(request: Any, params: Any) -> None:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    send(id=request, result=text(str(child.pid)))


def around(request: Any, params: Any) -> None:
    shown = {"pid": os.getpid(), "directory": os.getcwd(), "environment": dict(os.environ)}
    send(id=request, result=text(json.dumps(shown)))


def adds(request: Any, params: Any) -> None:
    numbers = params["arguments"]
    total = numbers.get("a", 0) + numbers.get("b", 0)
    send(id=request, result=text(str(total), structuredContent={"sum": total}))


PICTURE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"\x89PNG" * 100).decode()}

TOOLS: dict[str, Act] = {
    "echo": lambda request, params: send(id=request, result=text(json.dumps(params["arguments"]))),
    "adds": adds,
    "around": around,
    "fails": result(text("there is no such file", isError=True)),
    "fails-with-schema": result(text("not today", isError=True)),
    "wrong-sum": result(text("x", structuredContent={"sum": "x"})),
    "no-sum": result(text("3")),
    "picture": result({"content": [PICTURE]}),
    "exits": dies(0),
    "exits-with-3": dies(3),
    "segfaults": killed,
    "hangs": hangs,
    "blocks": blocks,
    "later": later,
    "floods": floods,
    "large": result(text("é" * 600_000)),
    "noise": noise,
    "chatters": chatters,
    "logs": logs,
    "asks": asks,
    "forks": forks,
    "half-a-message": raw('{"jsonrpc": "2.0", "id": ID, "result": {"content": ['),
    "garbage-in-braces": raw("{oops}"),
    "a-list": raw("[1, 2]"),
    "prints-text": raw("this is no message"),
    "same-key-twice": raw('{"jsonrpc":"2.0","id":ID,"result":{"content":[],"content":[]}}'),
    "nan": raw('{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"a":NaN}}}'),
    "no-version": raw('{"id":ID,"result":{"content":[]}}'),
    "no-content": result({"answer": 3}),
    "null-result": raw('{"jsonrpc":"2.0","id":ID,"result":null}'),
    "unknown-content": result({"content": [{"type": "hologram"}]}),
    "wrong-id": raw('{"jsonrpc":"2.0","id":999,"result":{"content":[]}}'),
    "another-id-type": raw('{"jsonrpc":"2.0","id":"ID","result":{"content":[]}}'),
    "refuses": error(-32000),
    "refuses-params": error(-32602),
    "knows-nothing": error(-32601),
    "breaks-inside": error(-32603),
    "closes-stdout": lambda request, params: os.close(1),
}
SCHEMAS = {"adds": SUM, "wrong-sum": SUM, "no-sum": SUM, "fails-with-schema": SUM}
ASKED: dict[Any, Callable[[Any], None]] = {}


def described(name: str) -> dict[str, Any]:
    tool = {"name": name, "description": f"Does {name}.", "inputSchema": ANY}
    return {**tool, **({"outputSchema": SCHEMAS[name]} if name in SCHEMAS else {})}


def odd_tools() -> list[dict[str, Any]]:
    look_ahead = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=a)"}}}
    return [
        described("echo"),
        described("echo"),
        described("with.dot"),
        described("n" * 70),
        {"name": "looks-ahead", "inputSchema": look_ahead},
        {"name": "remote", "inputSchema": {"type": "object", "$ref": "http://127.0.0.1:1/schema"}},
        {"name": "text-schema", "inputSchema": "object"},
        {"name": "list-schema", "inputSchema": {"type": "array"}},
        {"description": "has no name", "inputSchema": ANY},
        {
            "name": "undescribed",
            "title": "Title",
            "inputSchema": ANY,
            "annotations": {"readOnlyHint": True, "idempotentHint": False},
        },
    ]


def listed(params: dict[str, Any]) -> dict[str, Any]:
    if MODE == "odd":
        return {"tools": odd_tools()}
    if MODE == "pages":
        page = int(params.get("cursor", "0"))
        names = list(TOOLS)[page * 10 : page * 10 + 10]
        more = {"nextCursor": str(page + 1)} if page * 10 + 10 < len(TOOLS) else {}
        return {"tools": [described(name) for name in names], **more}
    if MODE == "endless":
        return {"tools": [], "nextCursor": "again"}
    return {"tools": [described(name) for name in TOOLS]}


def initialize(request: Any, params: Any) -> None:
    if MODE == "mute":
        return
    if MODE == "refuses":
        send(id=request, error={"code": -32000, "message": "not today"})
        return
    if MODE == "modern":
        send(id=request, error={"code": -32022, "message": "too old", "data": {"supported": [MODERN]}})
        return
    if MODE == "old":
        params["protocolVersion"] = "1999-01-01"
    version = params["protocolVersion"]
    info = {"name": "rogue", "version": "1"}
    send(id=request, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})


def serve(message: dict[str, Any]) -> None:
    method, request = message.get("method"), message.get("id")
    params: dict[str, Any] = message.get("params") or {}
    if method is None:
        ASKED.pop(request)(message)
    elif method == "initialize":
        initialize(request, params)
    elif method == "server/discover":
        info = {"name": "rogue", "version": "1"}
        send(id=request, result={"supportedVersions": [MODERN], "capabilities": {}, "serverInfo": info})
    elif method == "tools/list" and MODE == "lists-nothing":
        dies(9)(request, params)
    elif method == "tools/list":
        send(id=request, result=listed(params))
    elif method == "tools/call":
        with open(EFFECTS, "a") as file:
            file.write(params.get("_meta", {}).get("surefoot/callId", "?") + "\n")
        TOOLS[params["name"]](request, params)
    elif method == "notifications/cancelled":
        with open("cancelled", "a") as file:
            file.write(json.dumps(params) + "\n")
    elif request is not None:
        send(id=request, result={})


def main() -> None:
    if MODE == "exits":
        sys.stderr.write("no licence\n")
        sys.exit(7)
    if MODE in ("once", "once-mute"):
        if not os.path.exists(f"started-{MODE}"):
            open(f"started-{MODE}", "w").close()
        elif MODE == "once":
            sys.stderr.write("the second start is one too many\n")
            sys.exit(7)
        else:
            time.sleep(60)
    if MODE == "garbage":
        sys.stdin.readline()
        say("{this is not JSON\n")
        time.sleep(60)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 60; :"], start_new_session=True)
    for line in sys.stdin:
        serve(json.loads(line))
    if MODE == "stubborn":
        time.sleep(60)


main()
