"""A model provider on this machine, for tests: the OpenAI and Anthropic protocols over real HTTP.

    with ModelServer(Reply(calls=(Call("bash", {"command": "ls"}),)), Reply(text="Done.")) as server:
        ...  # OPENAI_BASE_URL = server.openai_url, ANTHROPIC_BASE_URL = server.anthropic_url
    server.requests[0].body["messages"]

Answers are given in the order they were queued, one for each request, in the protocol that the request's
path stands for: `/v1/chat/completions`, `/v1/responses` or `/v1/messages` (there also as a stream, when
asked for one). A request beyond the last answer gets a 400, which nothing retries.
"""

import json
import socket
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from tests.activities.providers.wire import Call, Reply, chat_completion, event_stream, message, response

__all__ = ["DROP", "HANG", "Answer", "Call", "ModelServer", "Raw", "Reply", "Request"]


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

Answer = Reply | Raw | Literal["hang", "drop"]


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

    def take(self, request: Request) -> Raw | None:
        """Record a request and give what to send for it; None: close the connection."""
        with self._arrival:
            self.requests.append(request)
            number = len(self.requests)
            answer = self._answers.popleft() if self._answers else Raw(400, _error("no answer is queued"))
            self._arrival.notify_all()
        match answer:
            case Raw():
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
        if answer is None:
            self.close_connection = True
            return
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
    match request.path.partition("?")[0]:
        case "/v1/chat/completions":
            return Raw(body=chat_completion(reply, number))
        case "/v1/responses":
            return Raw(body=response(reply, number))
        case "/v1/messages":
            if not request.body.get("stream"):
                return Raw(body=message(reply, number))
            return Raw(
                body=event_stream(message(reply, number)), headers={"content-type": "text/event-stream"}
            )
        case path:
            return Raw(404, _error(f"no such path: {path}"))
