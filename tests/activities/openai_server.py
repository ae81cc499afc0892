"""A model provider on this machine, for tests: the OpenAI and Anthropic protocols over real HTTP.

    with ModelServer(Reply(calls=(Call("bash", {"command": "ls"}),)), Reply(text="Done.")) as server:
        ...  # OPENAI_BASE_URL = server.openai_url, ANTHROPIC_BASE_URL = server.anthropic_url
    server.requests[0].body["messages"]

Answers are given in the order they were queued, one for each request, in the protocol that the request's
path stands for: `/v1/chat/completions`, `/v1/responses` or `/v1/messages`, as a stream where one is asked
for. A request beyond the last answer gets a 400, which nothing retries.
"""

import json
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from tests.activities.providers.events import chat_events, response_events
from tests.activities.providers.wire import Call, Reply, chat_completion, message, message_events, response

__all__ = ["DROP", "HANG", "HELD", "Answer", "Call", "ModelServer", "Raw", "Reply", "Request", "Stream"]


@dataclass(frozen=True)
class Raw:
    """Any status and body; JSON unless the body is bytes."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


HANG: Literal["hang"] = "hang"
"""No answer until the server is closed."""
DROP: Literal["drop"] = "drop"
"""The connection is closed without an answer."""

HELD: Literal["held"] = "held"
"""In a stream: nothing more until `go_on`, or until the client has left."""


@dataclass(frozen=True)
class Stream:
    """A body that goes out piece by piece; the connection may be cut where more is to come."""

    pieces: Sequence[bytes | Literal["held"]]
    cut: bool = False


Answer = Reply | Raw | Stream | Literal["hang", "drop"]


@dataclass(frozen=True)
class Request:
    """What a client sent; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class ModelServer:
    """Serves in threads of its own from `__enter__` to `__exit__`, on a free port of the loopback."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[Request] = []
        """Every request so far, the oldest first."""
        self._answers = deque(answers)
        self._closing = threading.Event()
        self._going_on, self._held = threading.Event(), 0
        self.left = threading.Event()
        """Set when a client has closed a connection on which a stream was held."""
        self._arrival = threading.Condition()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def openai_url(self) -> str:
        return f"{self.anthropic_url}/v1"

    def queue(self, *answers: Answer) -> None:
        """Add answers behind those that wait."""
        self._answers.extend(answers)

    def wait_for(self, requests: int, *, seconds: float = 20) -> None:
        """Wait in this thread until so many requests came; raises TimeoutError if they do not."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.requests) >= requests, timeout=seconds):
                raise TimeoutError(f"only {len(self.requests)} of {requests} requests came")

    def go_on(self) -> None:
        """Let streams that are held go on."""
        self._going_on.set()

    def hold_again(self) -> None:
        """Hold the streams that come next, once those that are held have gone on."""
        while self._held:
            time.sleep(0.005)
        self._going_on.clear()

    def hold(self, connection: socket.socket) -> None:
        """Wait in this thread until a stream may go on, or nobody reads it any more."""
        self._held += 1
        while not (self._going_on.is_set() or self._closing.is_set() or self.left.is_set()):
            readable, _, _ = select.select([connection], [], [], 0.02)
            if readable and not connection.recv(1, socket.MSG_PEEK):
                self.left.set()
        self._held -= 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, request: Request) -> Raw | Stream | None:
        """Record a request and give what to send for it; None: close the connection."""
        with self._arrival:
            self.requests.append(request)
            number = len(self.requests)
            answer = self._answers.popleft() if self._answers else Raw(400, _error("no answer is queued"))
            self._arrival.notify_all()
        match answer:
            case Raw() | Stream():
                return answer
            case Reply():
                return _render(answer, request, number=number)
            case "hang":
                self._closing.wait()
                return None
            case "drop":
                return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave together; apart, each answer would wait 40 ms for a delayed acknowledgement.
    wbufsize = 1 << 16

    def __init__(
        self, owner: ModelServer, connection: socket.socket, client: tuple[str, int], server: HTTPServer
    ) -> None:
        self._owner = owner
        super().__init__(connection, client, server)

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self._owner.take(Request(self.path, headers, json.loads(self.rfile.read(size))))
        match answer:
            case None:
                self.close_connection = True
            case Stream():
                self._stream(answer)
            case Raw():
                self._send(answer)

    def _stream(self, stream: Stream) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in stream.pieces:
            self.wfile.flush()
            if isinstance(piece, bytes):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            else:
                self._owner.hold(self.connection)
        if stream.cut or self._owner.left.is_set():
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, answer: Raw) -> None:
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in {"content-type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        pass


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error"}}


def _render(reply: Reply, request: Request, *, number: int) -> Raw:
    streams = bool(request.body.get("stream"))
    match request.path.partition("?")[0]:
        case "/v1/chat/completions":
            body = chat_completion(reply, number)
            usage = bool(request.body.get("stream_options", {}).get("include_usage"))
            events = chat_events(body, reply.piece_characters, usage=usage)
        case "/v1/responses":
            body = response(reply, number)
            events = response_events(body, reply.piece_characters)
        case "/v1/messages":
            body = message(reply, number)
            events = message_events(body, reply.piece_characters)
        case path:
            return Raw(404, _error(f"no such path: {path}"))
    if not streams:
        return Raw(body=body)
    return Raw(body=b"".join(events), headers={"content-type": "text/event-stream"})
