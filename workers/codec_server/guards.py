"""Who may ask: whoever has a token, whoever an issuer vouches for, or everybody."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

LEAST_TOKEN_LENGTH = 16


class UnauthorizedError(Exception):
    """Says in one sentence why somebody is refused; what they showed is not in it."""


class Guard(Protocol):
    """Decides by the bearer token of a request."""

    async def caller(self, token: str | None) -> str:
        """Give the caller's name, for the log and the rate limit.

        Raises:
            UnauthorizedError: they may not ask.
            IssuerError: nobody can tell now.
        """
        ...


@dataclass(frozen=True)
class Everybody:
    """Asks nobody who they are."""

    async def caller(self, token: str | None) -> str:  # noqa: ARG002  a guard is given it
        """Give the one name that all have."""
        return "anybody"


@dataclass(frozen=True)
class TokenGuard:
    """Lets in whoever has the one token."""

    token: str = field(repr=False)

    async def caller(self, token: str | None) -> str:
        """Give the one name of all who have it; raises UnauthorizedError."""
        if token is None:
            raise UnauthorizedError("a bearer token is needed")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise UnauthorizedError("the token is not the one of this server")
        return "token"


@dataclass(frozen=True)
class AnyGuard:
    """Lets in whom one of several would; there is at least one."""

    guards: Sequence[Guard]

    async def caller(self, token: str | None) -> str:
        """Ask them in order; raises what the last one does."""
        *first, last = self.guards
        for guard in first:
            try:
                return await guard.caller(token)
            except UnauthorizedError:
                continue
        return await last.caller(token)
