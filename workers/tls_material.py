"""The certificates and the key that Temporal's configuration names, looked at before they are used."""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.envconfig import ClientConfigProfile, DataSource
from temporalio.service import TLSConfig

from workers.settings import SettingsError

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_BLOCK = rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----"
_PATHS = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"


@dataclass(frozen=True)
class TlsMaterial:
    """What a client shows to a server, and whom it believes; a certificate has the name of its place."""

    authority: str | None
    """Where the certificate of the server's authority is; None leaves it to this machine."""
    client: str | None
    """Where the client's certificate is; None where it has none."""
    not_before: datetime | None = None
    not_after: datetime | None = None
    """From when until when the client's certificate is valid, in UTC."""


def tls_material(profile: ClientConfigProfile, tls: TLSConfig) -> TlsMaterial:
    """Read the files' content, which is in `tls`; its places are in the profile.

    Raises:
        SettingsError: something is no certificate or no key, or they do not belong together.
    """
    named = profile.tls
    authority = named and _place("authority's certificate", named.server_root_ca_cert)
    if tls.server_root_ca_cert is not None and authority is not None:
        _certificate(tls.server_root_ca_cert, authority)
    shown = named and _place("client certificate", named.client_cert)
    key = named and _place("client key", named.client_private_key)
    if tls.client_cert is None and tls.client_private_key is None:
        return TlsMaterial(authority=authority, client=None)
    if tls.client_cert is None or tls.client_private_key is None or shown is None or key is None:
        raise SettingsError(
            f"a client certificate and its key only go together: set {_PATHS}, both or neither"
        )
    not_before, not_after = _checked_pair(tls.client_cert, shown, tls.client_private_key, key)
    return TlsMaterial(authority=authority, client=shown, not_before=not_before, not_after=not_after)


def _place(what: str, source: DataSource | None) -> str | None:
    if source is None:
        return None
    return f"the {what} {source}" if isinstance(source, Path) else f"the {what}"


# What follows loads `cryptography`, which no other connection needs.


def _checked_pair(pem: bytes, shown: str, key_pem: bytes, key: str) -> tuple[datetime, datetime]:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    certificate = _certificate(pem, shown)
    try:
        private = load_pem_private_key(key_pem, password=None)
        belongs = private.public_key() == certificate.public_key()
    except TypeError:
        raise SettingsError(f"{key} is encrypted: only a key without a password can be used") from None
    except UnsupportedAlgorithm:
        raise SettingsError(f"{key} is of a kind that cannot be used") from None
    except ValueError:
        raise SettingsError(f"{key} is no private key in PEM") from None
    if not belongs:
        raise SettingsError(f"{key} does not belong to {shown}")
    return certificate.not_valid_before_utc.astimezone(UTC), certificate.not_valid_after_utc.astimezone(UTC)


def _certificate(pem: bytes, place: str) -> "Certificate":
    """Give the first certificate of a chain or a bundle; odd ones between others are left to the SDK."""
    from cryptography.x509 import load_pem_x509_certificate

    for block in re.findall(_BLOCK, pem, re.DOTALL):
        with suppress(ValueError):
            return load_pem_x509_certificate(block)
    raise SettingsError(f"{place} is no certificate in PEM")
