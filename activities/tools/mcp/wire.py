"""What went over HTTP below the SDK, which tells little of it."""

import ssl
from collections.abc import AsyncIterator
from functools import cache
from http import HTTPStatus

import httpx2

from activities.tools.mcp.lines import MAX_LINE_BYTES
from activities.tools.mcp.server import Endpoint

_HEAD_BYTES = 16 * 1024


@cache
def _certificates() -> ssl.SSLContext:
    # To read all authorities takes 0.1 s.
    return httpx2.create_ssl_context()


class _TooMuchError(Exception):
    """More came than is read of one answer."""


class Wire:
    """A client for one session, and what it has seen."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.status = ""
        """Of the latest answer to a request that said it was not served, as people name it; else empty."""
        self.head = bytearray()
        """How the latest answer began, as far as it was read."""
        self.too_large = False
        """An answer was larger than what is read of one."""

    def client(self) -> httpx2.AsyncClient:
        """Give the client; it waits as long as its caller does."""
        return httpx2.AsyncClient(
            headers=dict(self._endpoint.headers),
            verify=_certificates(),
            timeout=None,
            event_hooks={"response": [self._answered]},
        )

    async def _answered(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":
            self.status = (
                _named(response.status_code) if response.status_code >= HTTPStatus.BAD_REQUEST else ""
            )
            self.head.clear()
        stream = response.stream
        if isinstance(stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(stream, self)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, wire: Wire) -> None:
        self._stream = stream
        self._wire = wire
        self._left_bytes = MAX_LINE_BYTES

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._wire.head += chunk[: _HEAD_BYTES - len(self._wire.head)]
            self._left_bytes -= len(chunk)
            if self._left_bytes < 0:
                self._wire.too_large = True
                raise _TooMuchError
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _named(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"
