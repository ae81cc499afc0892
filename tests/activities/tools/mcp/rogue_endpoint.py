"""An MCP server over streamable HTTP without the SDK, which does what its tools' names say.

    rogue_endpoint.py

It prints the port that it listens at, and ends when its stdin does. Only the standard library is needed.
"""
# What it is sent may be anything, and to import pathlib takes longer than all else here.
# ruff: noqa: ANN401, PTH123

import json
import os
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

EFFECTS = "side-effects"
ENDED: list[str | None] = []
"""Sessions that a client has ended."""
CANCELLED: list[int] = []


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        self.answer(405, b"")

    def do_DELETE(self) -> None:
        ENDED.append(self.headers["mcp-session-id"])
        self.answer(200, b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, request = message["method"], message.get("id")
        params: dict[str, Any] = message.get("params") or {}
        if self.headers.get("authorization") == "Bearer wrong":
            self.answer(401, b"who are you?", "text/plain")
        elif method == "initialize":
            info = {"name": "rogue", "version": "1"}
            version = params["protocolVersion"]
            result: dict[str, Any] = {"protocolVersion": version, "capabilities": {}, "serverInfo": info}
            self.result(request, result, **{"mcp-session-id": f"s{time.monotonic_ns()}"})
        elif method == "tools/list":
            schema = {"type": "object"}
            names = [
                name.removeprefix("tool_").replace("_", "-") for name in dir(self) if name[:5] == "tool_"
            ]
            tools = [{"name": name, "description": f"Does {name}.", "inputSchema": schema} for name in names]
            self.result(request, {"tools": tools})
        elif method == "tools/call":
            with open(EFFECTS, "a") as file:
                file.write(params.get("_meta", {}).get("surefoot/callId", "?") + "\n")
            getattr(self, "tool_" + params["name"].replace("-", "_"))(request, params)
        else:
            if method == "notifications/cancelled":
                CANCELLED.append(params["requestId"])
            self.answer(202, b"")

    def answer(self, status: int, body: bytes, kind: str = "application/json", **more: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def result(self, request: Any, result: Any, **more: str) -> None:
        body = {"jsonrpc": "2.0", "id": request, "result": result}
        self.answer(200, json.dumps(body).encode(), **more)

    def events(self, *messages: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for message in messages:
            self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def error(self, request: Any, code: int, status: int = 200) -> None:
        body = {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": f"says {code}"}}
        self.answer(status, json.dumps(body).encode())

    def tool_echo(self, request: Any, params: Any) -> None:
        self.result(request, text(json.dumps(params["arguments"])))

    def tool_headers(self, request: Any, params: Any) -> None:
        self.result(request, text(json.dumps(dict(self.headers))))

    def tool_ended(self, request: Any, params: Any) -> None:
        self.result(request, text(json.dumps({"ended": len(ENDED), "cancelled": len(CANCELLED)})))

    def tool_streams(self, request: Any, params: Any) -> None:
        log = {"level": "info", "data": "working"}
        self.events(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": log},
            {"jsonrpc": "2.0", "id": request, "result": text("streamed")},
        )

    def tool_fails(self, request: Any, params: Any) -> None:
        self.result(request, text("not here", isError=True))

    def tool_refuses_params(self, request: Any, params: Any) -> None:
        self.error(request, -32602, 400)

    def tool_knows_nothing(self, request: Any, params: Any) -> None:
        self.error(request, -32601, 404)

    def tool_breaks_inside(self, request: Any, params: Any) -> None:
        self.error(request, -32603)

    def tool_says_500(self, request: Any, params: Any) -> None:
        self.answer(500, b"<h1>oops</h1>", "text/html")

    def tool_says_503(self, request: Any, params: Any) -> None:
        self.answer(503, b"", "text/plain")

    def tool_says_404(self, request: Any, params: Any) -> None:
        self.answer(404, b"", "text/plain")

    def tool_accepts(self, request: Any, params: Any) -> None:
        self.answer(202, b"")

    def tool_redirects(self, request: Any, params: Any) -> None:
        self.answer(302, b"", Location="http://127.0.0.1:1/elsewhere")

    def tool_garbage(self, request: Any, params: Any) -> None:
        self.answer(200, b'{"jsonrpc": "2.0", "id"')

    def tool_page(self, request: Any, params: Any) -> None:
        self.answer(200, b"<h1>hello</h1>", "text/html")

    def tool_infinite(self, request: Any, params: Any) -> None:
        self.answer(
            200,
            b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"a":1e999}}}' % request,
        )

    def tool_no_content(self, request: Any, params: Any) -> None:
        self.result(request, {"answer": 1})

    def tool_cuts_its_answer(self, request: Any, params: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"jsonrpc')
        self.close_connection = True

    def tool_cuts_its_stream(self, request: Any, params: Any) -> None:
        self.events(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
        )

    def tool_garbage_in_stream(self, request: Any, params: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"event: message\ndata: {oops\n\n")
        self.close_connection = True

    def tool_resets(self, request: Any, params: Any) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def tool_hangs(self, request: Any, params: Any) -> None:
        time.sleep(60)

    def tool_hangs_in_stream(self, request: Any, params: Any) -> None:
        self.events()
        self.wfile.flush()
        time.sleep(60)

    def tool_floods(self, request: Any, params: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(40_000_000))
        self.end_headers()
        for _ in range(40):
            self.wfile.write(b"x" * 1_000_000)

    def tool_floods_in_stream(self, request: Any, params: Any) -> None:
        self.events()
        self.wfile.write(b"data: ")
        for _ in range(40):
            self.wfile.write(b"x" * 1_000_000)

    def tool_dies(self, request: Any, params: Any) -> None:
        os._exit(9)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients go away all the time."""


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
