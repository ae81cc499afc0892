"""A server on this machine that people have notices posted to."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Self


class Listener:
    """Keeps what is posted to it, and answers with these statuses, the last one for ever."""

    def __init__(self, *statuses: int) -> None:
        self.posted: list[tuple[dict[str, str], bytes]] = []
        """Headers, in small letters, and body."""
        self._statuses = list(statuses)
        self._server = HTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/notices"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.posted.append(({name.lower(): value for name, value in self.headers.items()}, body))
                statuses = listener._statuses
                self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is theirs
                pass

        return Handler
