"""Notices to a URL of the user's."""

import asyncio
import hashlib
import hmac
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from ssl import SSLContext

import httpx2

from activities.notices.notify import NotDeliveredError

SIGNATURE = "Surefoot-Signature"
"""The header with the HMAC-SHA256 of the body under the secret: `sha256=` and 64 hexadecimal digits."""

_TIMEOUT_SECONDS = 10
_MAY_PASS = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})


@cache
def _certificates() -> SSLContext:
    # To read all authorities takes 0.1 s.
    return httpx2.create_ssl_context()


@dataclass(frozen=True)
class ByUrl:
    """A URL that each notice is posted to, as one JSON object; with a secret, it is signed."""

    url: str
    secret: str | None = None

    async def tell(self, document: bytes) -> None:
        """Post one notice; a redirection is not followed.

        Raises:
            NotDeliveredError: the server did not answer within ten seconds, or not with 2xx.
        """
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                status = await self._post(document)
        except TimeoutError:
            raise NotDeliveredError(f"no answer within {_TIMEOUT_SECONDS}s", final=False) from None
        except httpx2.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise NotDeliveredError(f"no answer: {reason}", final=False) from None
        if not HTTPStatus(200) <= status < HTTPStatus(300):
            final = status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _MAY_PASS
            raise NotDeliveredError(f"the server answered {status}", final=final)

    async def _post(self, document: bytes) -> int:
        headers = {"Content-Type": "application/json"}
        if self.secret is not None:
            digest = hmac.new(self.secret.encode(), document, hashlib.sha256).hexdigest()
            headers[SIGNATURE] = f"sha256={digest}"
        async with (
            httpx2.AsyncClient(verify=_certificates(), timeout=None) as client,
            # What the server says beside its status is not read.
            client.stream("POST", self.url, content=document, headers=headers) as response,
        ):
            return response.status_code
