"""An OpenID Connect issuer: its keys, and the bearer tokens that it signed for us."""

import asyncio
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt
from pydantic import BaseModel, ValidationError

from workers.codec_server.guards import UnauthorizedError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with a private key: a token that anybody could make who has read the public key is none."""

KEPT_SECONDS = 600
ASKED_AGAIN_SECONDS = 30
_TIMEOUT_SECONDS = 5
_LEEWAY_SECONDS = 30
_MOST_BYTES = 1024 * 1024


class IssuerError(Exception):
    """One sentence on an issuer that cannot be used, now or at all."""


class _Discovery(BaseModel):
    issuer: str
    jwks_uri: str


class Issuer:
    """Lets in whoever has a token of one issuer for one audience; a `Guard`."""

    def __init__(self, url: str, *, audience: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`url` is the issuer's name as it stands in its tokens; its discovery document is found below it."""
        self._url, self._audience, self._clock = url, audience, clock
        self._keys: Mapping[str | None, jwt.PyJWK] = {}
        self._loaded_at = self._asked_at = float("-inf")
        self._trouble: str | None = None
        self._asking = asyncio.Lock()

    async def caller(self, token: str | None) -> str:
        """Name the token's subject, as no other caller is named; raises UnauthorizedError and IssuerError."""
        if token is None:
            raise UnauthorizedError(f"a bearer token of {self._url} is needed")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise UnauthorizedError("the token is signed in a way that is not accepted")
            claims: dict[str, Any] = jwt.decode(
                token,
                await self._key(header.get("kid")),
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self._url,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise UnauthorizedError(f"the token is not accepted: {error}") from None
        return f"subject {claims['sub']}"

    async def load(self) -> None:
        """Ask the issuer for its keys; raises IssuerError."""
        # One client for both: its authorities take 0.1 s to read.
        async with httpx2.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
            found = await self._discovered(client)
            document = await _document(client, found.jwks_uri)
        try:
            keys = jwt.PyJWKSet.from_json(document.decode("utf-8")).keys
        except (jwt.PyJWTError, ValueError, AttributeError) as error:
            raise IssuerError(f"the keys of {self._url} cannot be read: {error}") from None
        self._keys = {key.key_id: key for key in keys if key.public_key_use in (None, "sig")}
        self._loaded_at = self._asked_at = self._clock()

    async def _discovered(self, client: httpx2.AsyncClient) -> _Discovery:
        document = await _document(client, f"{self._url.rstrip('/')}/.well-known/openid-configuration")
        try:
            found = _Discovery.model_validate_json(document)
        except ValidationError:
            raise IssuerError(f"the discovery document of {self._url} is none") from None
        if found.issuer != self._url:
            raise IssuerError(
                f"{self._url} says that its name is {found.issuer}: use the issuer's own spelling"
            )
        return found

    async def _key(self, key_id: str | None) -> jwt.PyJWK:
        async with self._asking:
            if key_id not in self._keys or self._clock() - self._loaded_at > KEPT_SECONDS:
                await self._load_again()
        if key_id not in self._keys:
            raise UnauthorizedError("the token is signed with a key that its issuer does not have")
        return self._keys[key_id]

    async def _load_again(self) -> None:
        # A token can name any key, and an issuer be away: not every request makes us ask.
        if self._clock() - self._asked_at > ASKED_AGAIN_SECONDS:
            self._asked_at, self._trouble = self._clock(), None
            try:
                await self.load()
            except IssuerError as error:
                self._trouble = str(error)
        if self._trouble is not None:
            raise IssuerError(self._trouble)


async def _document(client: httpx2.AsyncClient, url: str) -> bytes:
    if not _is_safe(url):
        raise IssuerError(f"{url} is not asked for keys: it has to be https://")
    try:
        async with client.stream("GET", url) as response:
            if response.status_code != HTTPStatus.OK:
                raise IssuerError(f"{url} answered {response.status_code}")
            document = b""
            async for part in response.aiter_bytes():
                document += part
                if len(document) > _MOST_BYTES:
                    raise IssuerError(f"{url} answers too much")
            return document
    except httpx2.HTTPError as error:
        raise IssuerError(f"{url} does not answer: {error or type(error).__name__}") from None


def _is_safe(url: str) -> bool:
    """Tell whether nobody on the way could answer in the issuer's place."""
    parts = urlsplit(url)
    try:
        here = ip_address(parts.hostname or "").is_loopback
    except ValueError:
        here = parts.hostname == "localhost"
    return parts.scheme == "https" or (parts.scheme == "http" and here)
