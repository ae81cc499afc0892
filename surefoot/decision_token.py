"""What a signed decision says, how it is written as a token, and whether it is about what is asked."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue, ValidationError

from surefoot.authority import PublicKey, base64url, base64url_bytes, key_named
from surefoot.canonical import canonical_json, json_sha256
from surefoot.events import ApprovalScope
from surefoot.run import Approve, Deny
from surefoot.strict_json import NotStrictJsonError, strict_json
from surefoot.summary import shorten
from surefoot.wire import WireModel

TOKEN_VERSION = "surefoot-decision-1"  # noqa: S105  no password: it begins every token
MAX_TOKEN_CHARACTERS = 8_192

IsSigned = Callable[[bytes, bytes, bytes], bool]
"""Tells of a public key, a text and a signature whether the signature is the key's of the text."""

_LAST_SECOND = 253_402_300_799
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SignedDecision(WireModel):
    """All that a signature is over; what a reader does not know here it must not take."""

    model_config = ConfigDict(extra="forbid")

    workflow_id: str
    run_id: str
    """Of the run of the chain that asks, for a question never outlives it."""
    tool_exec_id: str
    params_sha256: _Sha256
    decision: Literal["approve", "deny"]
    scope: ApprovalScope | None
    """None where the call is denied."""
    edited_sha256: _Sha256 | None
    """Of the params that the call is made with instead, hashed as the others are."""
    reason_sha256: _Sha256 | None
    """Of the UTF-8 of the reason; None where the call is approved."""
    by: str | None
    expires: Annotated[int, Field(ge=0, le=_LAST_SECOND)]
    """The last second in which it is taken, counted from 1970 in UTC."""
    nonce: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22,64}$")]
    """Made up, at least 16 bytes: no two tokens are the same."""
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """The id of the key that signs it."""


@dataclass(frozen=True)
class Asking:
    """The run that asks."""

    workflow_id: str
    run_id: str


@dataclass(frozen=True)
class Signing:
    """What a signature adds to a decision."""

    key: str
    expires: int
    nonce: str


def decision_of(request: Approve | Deny, asking: Asking, signing: Signing) -> SignedDecision:
    """Give what has to be signed for an update to be taken."""
    approves = request if isinstance(request, Approve) else None
    edited: JsonValue = None if approves is None else approves.params
    return SignedDecision(
        workflow_id=asking.workflow_id,
        run_id=asking.run_id,
        tool_exec_id=request.tool_exec_id,
        params_sha256=request.params_sha256.strip().lower(),
        decision="deny" if approves is None else "approve",
        scope=None if approves is None else approves.scope,
        edited_sha256=None if edited is None else json_sha256(edited),
        reason_sha256=hashlib.sha256(request.reason.encode()).hexdigest()
        if isinstance(request, Deny)
        else None,
        by=request.by,
        expires=signing.expires,
        nonce=signing.nonce,
        key=signing.key,
    )


def signed_text(decision: SignedDecision) -> str:
    """Give the text that is signed, and that begins the token."""
    return f"{TOKEN_VERSION}.{base64url(canonical_json(decision.model_dump()).encode())}"


def token_text(signed: str, signature: bytes) -> str:
    """Give a token."""
    return f"{signed}.{base64url(signature)}"


class TokenUnreadableError(ValueError):
    """A phrase on a token that cannot be read."""


@dataclass(frozen=True)
class Token:
    """A token that was read, and not checked."""

    decision: SignedDecision
    signed: bytes
    signature: bytes


def read_token(text: str) -> Token:
    """Read a token; whatever is signed is what was sent, so that it has no other form to be brought into.

    Raises:
        TokenUnreadableError: it is none, or one of another version.
    """
    version, _, rest = text.partition(".")
    payload, _, signature = rest.partition(".")
    if len(text) > MAX_TOKEN_CHARACTERS or version != TOKEN_VERSION:
        raise TokenUnreadableError(f"it is no text that begins with '{TOKEN_VERSION}.'")
    try:
        decision = SignedDecision.model_validate(strict_json(base64url_bytes(payload)), strict=True)
        return Token(decision, f"{version}.{payload}".encode(), base64url_bytes(signature))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise TokenUnreadableError(f"{place}: {first['msg']}" if place else first["msg"]) from None
    except (NotStrictJsonError, ValueError) as error:
        raise TokenUnreadableError(str(error)) from None


def signer_of(request: Approve | Deny, authority: Sequence[str]) -> str | None:
    """Name the key that signed a decision which was taken; None where none had to."""
    if not authority or request.token is None:
        return None
    key = key_named(authority, read_token(request.token).decision.key)
    return None if key is None else key.name


def why_not_signed(
    request: Approve | Deny,
    authority: Sequence[str],
    asking: Asking,
    now: datetime,
    is_signed: IsSigned,
) -> str | None:
    """Say in a sentence why a run with an authority does not take a decision; None if it does."""
    if not authority:
        return None
    if request.token is None:
        return "decisions of this run must be signed with a key of its authority, and this one has no token"
    try:
        token = read_token(request.token)
    except TokenUnreadableError as error:
        return f"the token cannot be read: {error}"
    if (key := key_named(authority, token.decision.key)) is None:
        return f"the token is signed with a key that is none of the run's authority: {token.decision.key}"
    return _why_not_of(key, token, is_signed) or _why_not_about(token.decision, request, asking, now)


def _why_not_of(key: PublicKey, token: Token, is_signed: IsSigned) -> str | None:
    if is_signed(key.raw, token.signed, token.signature):
        return None
    return f"the signature of the token is not one of the key '{key.name}' over what the token says"


_ANOTHER: Mapping[str, str] = MappingProxyType(
    {
        "workflow_id": "the token is about another run",
        "run_id": "the token is about another run, or one that was reset",
        "params_sha256": "the token is about other params of the call",
        "edited_sha256": "the token is about other edited params",
        "reason_sha256": "the token is about another reason",
        "by": "the token names somebody else who decides",
    }
)


def _why_not_about(
    signed: SignedDecision, request: Approve | Deny, asking: Asking, now: datetime
) -> str | None:
    meant = decision_of(request, asking, Signing(signed.key, signed.expires, signed.nonce))
    for name in ("workflow_id", "run_id"):
        if getattr(signed, name) != getattr(meant, name):
            return _ANOTHER[name]
    if signed.tool_exec_id != meant.tool_exec_id:
        return f"the token is about tool call '{shorten(signed.tool_exec_id)}'"
    if signed.decision != meant.decision:
        return f"the token is to {signed.decision} the call, and not to {meant.decision} it"
    if signed.scope != meant.scope:
        return f"the token is for the scope '{signed.scope}', and not for '{meant.scope}'"
    for name in ("params_sha256", "edited_sha256", "reason_sha256", "by"):
        if getattr(signed, name) != getattr(meant, name):
            return _ANOTHER[name]
    if now.timestamp() >= signed.expires + 1:
        return f"the token has expired at {datetime.fromtimestamp(signed.expires, UTC):%Y-%m-%d %H:%M:%S} UTC"
    return None
