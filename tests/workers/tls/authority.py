"""Certificates of a test's own: an authority, and whom it vouches for."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """The files of a certificate and of its key."""

    certificate: Path
    key: Path


class Authority:
    """One who issues certificates into a directory; its own is `certificate`."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory, self._name, self._key = directory, name, generate_private_key(SECP256R1())
        self.certificate = directory / f"{name}.pem"
        own = _certificate(
            name, self._key, by=name, signed_with=self._key, hosts=(), days=(-30, 30), authority=True
        )
        self.certificate.write_bytes(own)

    def issue(
        self,
        name: str,
        *hosts: str,
        days: tuple[int, int] = (-1, 1),
        password: bytes | None = None,
    ) -> Pair:
        """Issue a certificate that is valid from the first of the days until the second; today is 0."""
        key = generate_private_key(SECP256R1())
        issued = _certificate(
            name, key, by=self._name, signed_with=self._key, hosts=hosts, days=days, authority=False
        )
        pair = Pair(self._directory / f"{name}.pem", self._directory / f"{name}.key")
        pair.certificate.write_bytes(issued)
        sealed = NoEncryption() if password is None else BestAvailableEncryption(password)
        pair.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed))
        return pair


def _certificate(
    name: str,
    key: EllipticCurvePrivateKey,
    *,
    by: str,
    signed_with: EllipticCurvePrivateKey,
    hosts: Sequence[str],
    days: tuple[int, int],
    authority: bool,
) -> bytes:
    now, (first, last) = datetime.now(UTC), days
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(by))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + first * DAY)
        .not_valid_after(now + last * DAY)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([_host(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(signed_with, SHA256()).public_bytes(Encoding.PEM)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
