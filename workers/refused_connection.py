"""Why a connection to a Temporal server did not come about, in a sentence.

The SDK gives the nested structures of what it is made of, as text; their names are part of no contract, and
what is not known here is given as it is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from workers.tls_material import TlsMaterial

_CLIENT_FILES = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
_ENDED = (
    r"AlertReceived\((\w+)\)|received fatal alert: (\w+)"
    r"|connection closed|close_notify|handshake eof|broken pipe|transport error|[Cc]onnection reset"
)


@dataclass(frozen=True)
class Attempt:
    """How the connection was tried."""

    material: TlsMaterial | None
    """None without TLS."""
    has_api_key: bool
    at: datetime


def refusal(said: str, attempt: Attempt) -> str:
    """Give the reason within what the SDK said; it follows upon the server's address and a colon."""
    for pattern, reason in _REASONS:
        if found := re.search(pattern, said):
            return reason(found, attempt)
    # The sentence that matters comes last, within structures.
    quoted = re.findall(r'"([^"]+)"', said)
    return quoted[-1] if quoted else " ".join(said.split())


def _wrong_host(found: re.Match[str], _: Attempt) -> str:
    names = re.findall(r'\(\\?"?([\w.*:-]+)\\?"?\)', found[1])
    certified = ", ".join(names) or "no host at all"
    return (
        f"its certificate is for {certified}, not for this address; where that is right, "
        "TEMPORAL_TLS_SERVER_NAME names the host to expect"
    )


def _expired(found: re.Match[str], _: Attempt) -> str:
    return f"its certificate expired on {_time(int(found[1]))}"


def _not_yet_valid(found: re.Match[str], _: Attempt) -> str:
    return f"its certificate is valid only from {_time(int(found[1]))} on, or this machine's clock is wrong"


def _unknown_authority(_: re.Match[str], attempt: Attempt) -> str:
    authority = attempt.material and attempt.material.authority
    if authority is not None:
        return f"its certificate was not issued with {authority}"
    return (
        "its certificate was issued by an authority that this machine does not know: "
        "TEMPORAL_TLS_SERVER_CA_CERT_PATH names the authority's certificate"
    )


def _other_flaw(found: re.Match[str], _: Attempt) -> str:
    return f"its certificate cannot be accepted ({found[1]})"


def _no_tls_there(_: re.Match[str], __: Attempt) -> str:
    return "it does not speak TLS, which the configuration asks for"


def _unauthorized(found: re.Match[str], attempt: Attempt) -> str:
    said = f" ({found[1].rstrip('.')})" if found[1] else ""
    if attempt.has_api_key:
        return f"it refuses the API key{said}"
    if attempt.material is not None and attempt.material.client is not None:
        return f"it refuses {attempt.material.client}{said}"
    return f"it refuses a client without an API key{said}: TEMPORAL_API_KEY holds one"


def _ended(found: re.Match[str], attempt: Attempt) -> str:
    material, alert = attempt.material, found[1] or found[2]
    if material is None:
        return "it ends the connection at once, as servers do that want TLS: TEMPORAL_TLS=true turns it on"
    if material.client is None:
        # An alert can be lost on its way when the connection ends right behind it.
        wanted = "it" if alert else "it ends the connection, and probably"
        return f"{wanted} wants a client certificate: {_CLIENT_FILES} name one and its key"
    if material.not_after is not None and material.not_after < attempt.at:
        return f"it refuses {material.client}, which expired on {_written(material.not_after)}"
    if material.not_before is not None and attempt.at < material.not_before:
        return f"it refuses {material.client}, which is valid only from {_written(material.not_before)} on"
    if alert is None:
        return f"it ends the connection, and probably refuses {material.client}"
    return f"it refuses {material.client} ({alert})"


_REASONS: tuple[tuple[str, Callable[[re.Match[str], Attempt], str]], ...] = (
    (r"NotValidForNameContext \{.*?presented: \[(.*?)\]", _wrong_host),
    (r"ExpiredContext \{.*?not_after: UnixTime\((\d+)\)", _expired),
    (r"NotValidYetContext \{.*?not_before: UnixTime\((\d+)\)", _not_yet_valid),
    (r"InvalidCertificate\(UnknownIssuer\)", _unknown_authority),
    (r"InvalidCertificate\((\w+)", _other_flaw),
    (r"InvalidContentType", _no_tls_there),
    (r'code: (?:Unauthenticated|PermissionDenied), message: "([^"]*)"', _unauthorized),
    (_ENDED, _ended),
)


def _time(seconds: int) -> str:
    return _written(datetime.fromtimestamp(seconds, UTC))


def _written(time: datetime) -> str:
    return f"{time:%Y-%m-%d at %H:%M} UTC"
