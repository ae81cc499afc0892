"""Asking a web service for JSON: in time, not too often, and with errors that a model can act on."""

import asyncio
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from surefoot import ToolError

LONGEST_WAIT_SECONDS = 5.0
"""What has to wait longer for its turn is answered `rate_limited`: the model can use its time better."""
MOST_BYTES = 8 * 2**20
"""More than this is no answer, and would fill the worker's memory."""

Answer = TypeVar("Answer")

_tls = cache(httpx2.create_ssl_context)
"""Reads certificates, which takes a while; here once."""
_free_at: dict[str, float] = {}
"""When each service may be asked next, by its URL, on the clock of `time.monotonic`."""


@dataclass(frozen=True)
class Service:
    """A web service, and how often it is asked."""

    name: str
    variable: str
    """The environment variable that says where it is."""
    default_url: str = ""
    pause_seconds: float = 0.2
    """The least time between two requests of this process."""

    @property
    def url(self) -> str:
        """Where it is; empty if nobody said so."""
        return (os.environ.get(self.variable) or self.default_url).rstrip("/")

    async def ask(
        self,
        path: str,
        form: TypeAdapter[Answer],
        *,
        query: dict[str, Any] | None = None,
        body: object = None,
    ) -> Answer:
        """Give what it answers, read in a form; a body makes it a POST.

        Raises:
            ToolError: it cannot be reached, is too slow, wants to be left alone, or answers something else.
            HTTPStatusError: it answers a status that is no success. Surefoot knows what each means.
        """
        for asked_again in (False, True):
            response, read = await self._send(path, query, body)
            if response.status_code != 429:
                break
            wait = _retry_after(response)
            if wait is not None:
                _free_at[self.url] = max(_free_at[self.url], time.monotonic() + wait)
            if wait is None or asked_again:
                raise self._rate_limited(wait)
        if not response.is_success:
            said = f"{self.name} answered {response.status_code} {response.reason_phrase}".rstrip()
            raise httpx2.HTTPStatusError(said, request=response.request, response=response)
        return self._read(read, form)

    async def _send(
        self, path: str, query: dict[str, Any] | None, body: object
    ) -> tuple[httpx2.Response, bytes]:
        await self._turn()
        seconds = float(os.environ.get("PILGRIMAGE_TIMEOUT_SECONDS") or 10)
        agent = os.environ.get("PILGRIMAGE_USER_AGENT") or "surefoot/pilgrimage-example/0.1"
        try:
            # The client's own timeouts are for each step: a service that drips would never be too slow.
            async with (
                asyncio.timeout(seconds),
                httpx2.AsyncClient(
                    verify=_tls(), headers={"User-Agent": agent}, follow_redirects=True, max_redirects=3
                ) as client,
                client.stream(
                    "GET" if body is None else "POST", self.url + path, params=query, json=body
                ) as response,
            ):
                return response, await self._body(response)
        except (TimeoutError, httpx2.TimeoutException):
            raise ToolError(f"{self.name} did not answer within {seconds:g} s", "timeout") from None
        except httpx2.RequestError as error:
            said = f"{self.name} cannot be reached: {error or type(error).__name__}"
            raise ToolError(said, "external_service_error") from error

    async def _body(self, response: httpx2.Response) -> bytes:
        read = bytearray()
        async for part in response.aiter_bytes():
            read += part
            if len(read) > MOST_BYTES:
                raise ToolError(
                    f"{self.name} answered more than {MOST_BYTES:,} bytes", "external_service_error"
                )
        return bytes(read)

    async def _turn(self) -> None:
        now = time.monotonic()
        turn = max(now, _free_at.get(self.url, now))
        if turn - now > LONGEST_WAIT_SECONDS:
            raise self._rate_limited(turn - now)
        _free_at[self.url] = turn + self.pause_seconds
        await asyncio.sleep(turn - now)

    def _rate_limited(self, seconds: float | None) -> ToolError:
        if seconds is None:
            said = f"{self.name} is asked too often, and does not say when to ask again"
            return ToolError(said, "rate_limited", retry_after_seconds=None)
        rounded = max(1, round(seconds))
        said = f"{self.name} is asked too often: ask again in {rounded} s"
        return ToolError(said, "rate_limited", retry_after_seconds=rounded)

    def _read(self, read: bytes, form: TypeAdapter[Answer]) -> Answer:
        try:
            return form.validate_json(read)
        except ValidationError as error:
            # It must not look like a mistake of the model's, which a ValidationError stands for.
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            said = f"{self.name} answered something else than expected: {place} {first['msg']}"
            raise ToolError(" ".join(said.split()), "external_service_error") from error


def _retry_after(response: httpx2.Response) -> float | None:
    """Read seconds, or a date; None if it says nothing of use."""
    said = response.headers.get("Retry-After", "")
    try:
        if said.isdecimal():
            return float(said)
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
