"""Private keys of people who decide: read from files that are theirs alone, and from no others."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from surefoot.authority import public_key_text
from workers.authority import authority_key_of, authority_of
from workers.authority_key import AuthorityKeyError, make_key, read_key
from workers.settings import Settings, SettingsError, load_settings


def with_a_passphrase() -> bytes:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))


def of_another_kind() -> bytes:
    return generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_a_key_that_was_made_is_read_again(tmp_path: Path) -> None:
    made = make_key(tmp_path / "ada.pem")

    assert read_key(tmp_path / "ada.pem").public == made.public
    assert authority_key_of(Settings(authority_key_file=tmp_path / "ada.pem")) is not None


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_a_key_of_openssl_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ada.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", file], check=True)
    file.chmod(0o600)
    public = subprocess.run(
        ["openssl", "pkey", "-in", file, "-pubout", "-outform", "DER"], check=True, capture_output=True
    )

    assert read_key(file).public == public.stdout[-32:]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(lambda: b"", "holds no private key in PEM that can be read", id="nothing"),
        pytest.param(with_a_passphrase, "has a passphrase, and none can be given here", id="a passphrase"),
        pytest.param(of_another_kind, "is of another kind than Ed25519", id="another kind"),
    ],
)
def test_what_is_no_key_is_refused(tmp_path: Path, content: Callable[[], bytes], why: str) -> None:
    file = tmp_path / "ada.pem"
    file.touch(0o600)
    file.write_bytes(content())

    with pytest.raises(AuthorityKeyError, match=why):
        read_key(file)


def test_a_key_file_that_cannot_be_used_is_named_by_its_setting(tmp_path: Path) -> None:
    missing = tmp_path / "missing"

    with pytest.raises(SettingsError) as refused:
        authority_key_of(Settings(authority_key_file=missing))

    assert str(refused.value) == (
        f"SUREFOOT_AUTHORITY_KEY_FILE cannot be used: the key file {missing} cannot be read: "
        "No such file or directory"
    )


def test_the_authority_is_read_from_its_setting_or_its_file(tmp_path: Path) -> None:
    ada = public_key_text(make_key(tmp_path / "ada.pem").public, "ada")
    eve = public_key_text(make_key(tmp_path / "eve.pem").public)
    file = tmp_path / "authority"
    file.write_text(f"# who may\n{ada}\n\n{eve} # for nights\n")

    assert authority_of(Settings(authority=f"{ada}, {eve}")) == (ada, eve)
    assert authority_of(Settings(authority_file=file)) == (ada, eve)
    assert authority_of(Settings()) == ()


def test_an_authority_is_named_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUREFOOT_AUTHORITY", public_key_text(make_key(tmp_path / "ada.pem").public))
    monkeypatch.setenv("SUREFOOT_AUTHORITY_FILE", "keys")

    with pytest.raises(SettingsError, match="SUREFOOT_AUTHORITY and SUREFOOT_AUTHORITY_FILE exclude each"):
        load_settings()
