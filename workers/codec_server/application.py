"""Temporal's remote codec protocol over HTTP: who asks is checked, counted and written down."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from workers.codec_server.coding import Action, Coded, NotPayloadsError, coded, json_of, payloads_in
from workers.codec_server.guards import Guard, UnauthorizedError
from workers.codec_server.issuer import IssuerError
from workers.codec_server.rate_limit import RateLimit
from workers.encryption.codec import EncryptionCodec

HEALTH = "/health"
MOST_BODY_BYTES = 8 * 1024 * 1024
"""More than a page of a history holds, which is at most 4 MB before base64."""

_BODY_SECONDS = 30
_NAMESPACE_LENGTH = 255
_CLOSE = {"Connection": "close"}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": "Authorization, Authorization-Extras, Content-Type, X-Namespace",
    "Access-Control-Max-Age": "600",
}

_log = logging.getLogger("surefoot.codec")

_Answer = Callable[[Request], Awaitable[Response]]


class _RefusedError(Exception):
    """A request that is not answered; the sentence is for whoever made it."""

    def __init__(self, status: HTTPStatus, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers or {}


@dataclass
class _Told:
    """What the log says of a request; nothing of what the payloads hold."""

    caller: str = "unknown"
    coded: Coded | None = None
    payloads: int | None = None


@dataclass(frozen=True)
class CodecApplication:
    """What a codec server does with a request."""

    codec: EncryptionCodec
    guard: Guard
    origins: frozenset[str]
    limit: RateLimit

    def routes(self) -> Starlette:
        """Give the ASGI application: POST /encode, POST /decode, GET /health.

        As the protocol wants it, what stands before the last part of a path says nothing.
        """
        asked: tuple[Action, ...] = ("encode", "decode")
        posted = [
            Route(f"{before}/{action}", self._answering(action), methods=["POST", "OPTIONS"])
            for action in asked
            for before in ("", "/{before:path}")
        ]
        return Starlette(routes=[*posted, Route(HEALTH, _healthy, methods=["GET"])])

    def _answering(self, action: Action) -> _Answer:
        async def answer(request: Request) -> Response:
            response = (
                self._preflight(request)
                if request.method == "OPTIONS"
                else await self._audited(action, request)
            )
            response.headers["Vary"] = "Origin"
            origin = request.headers.get("origin")
            if origin in self.origins:
                response.headers["Access-Control-Allow-Origin"] = origin
                response.headers["Access-Control-Allow-Credentials"] = "true"
            return response

        return answer

    def _preflight(self, request: Request) -> Response:
        if request.headers.get("origin") not in self.origins:
            return Response(status_code=HTTPStatus.FORBIDDEN)
        headers = dict(_PREFLIGHT)
        # What a browser asks before a page from elsewhere may talk to this machine.
        if "access-control-request-private-network" in request.headers:
            headers["Access-Control-Allow-Private-Network"] = "true"
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)

    async def _audited(self, action: Action, request: Request) -> Response:
        told, refused = _Told(), None
        try:
            response = await self._coded(action, request, told)
        except _RefusedError as refusal:
            refused = refusal
            response = JSONResponse(
                {"error": str(refusal)}, status_code=refusal.status, headers=refusal.headers
            )
        _write_down(action, request, told, refused)
        return response

    async def _coded(self, action: Action, request: Request, told: _Told) -> Response:
        self._refuse_origin(request)
        told.caller = await self._caller(request)
        self._refuse_haste(told.caller)
        self.limit.spend(told.caller)
        try:
            payloads = payloads_in(await _body(request))
        except NotPayloadsError as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from None
        told.payloads = len(payloads)
        told.coded = result = await coded(self.codec, action, payloads)
        if result.is_refusal:
            raise _RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(dict.fromkeys(result.unreadable)))
        return Response(json_of(result.payloads), media_type="application/json")

    def _refuse_origin(self, request: Request) -> None:
        # A browser says where a page is from, and hides the answer from a stranger, but asks all the same.
        origin = request.headers.get("origin")
        if origin is not None and origin not in self.origins:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "pages of this origin may not ask")

    async def _caller(self, request: Request) -> str:
        address = f"address {_address(request)}"
        self._refuse_haste(address)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            return await self.guard.caller(token.strip() if scheme.lower() == "bearer" and token else None)
        except UnauthorizedError as error:
            self.limit.spend(address)
            challenge = {"WWW-Authenticate": "Bearer"}
            raise _RefusedError(HTTPStatus.UNAUTHORIZED, str(error), challenge) from None
        except IssuerError as error:
            raise _RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None

    def _refuse_haste(self, caller: str) -> None:
        if seconds := self.limit.wait_seconds(caller):
            headers = {"Retry-After": str(math.ceil(seconds))}
            raise _RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "too many requests in a minute", headers)


async def _healthy(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _body(request: Request) -> bytes:
    body = b""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BODY_BYTES:
                    sentence = f"the body is larger than {MOST_BODY_BYTES} bytes"
                    raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence, _CLOSE)
    except TimeoutError:
        raise _RefusedError(HTTPStatus.REQUEST_TIMEOUT, "the body does not come", _CLOSE) from None
    except ClientDisconnect:
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "the body has no end") from None
    return body


def _write_down(action: Action, request: Request, told: _Told, refused: _RefusedError | None) -> None:
    namespace = request.headers.get("x-namespace", "")[:_NAMESPACE_LENGTH]
    about: dict[str, object] = {
        "action": action,
        "caller": _shown(told.caller),
        "address": _address(request),
        "namespace": _shown(namespace),
    }
    if told.payloads is not None:
        about["payloads"] = told.payloads
    if told.coded is not None:
        about["keys"] = [_shown(key) for key in told.coded.key_ids]
        about["unreadable"] = len(told.coded.unreadable)
    if refused is None:
        _log.info("answered", extra=about)
    else:
        # A sentence on a body can quote from it.
        reason = {} if refused.status == HTTPStatus.BAD_REQUEST else {"reason": str(refused)}
        _log.warning("refused", extra={**about, "status": int(refused.status), **reason})


def _address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def _shown(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
