"""Keys as they are written, and what they seal."""

import base64
from datetime import date

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from workers.encryption.keys import (
    BadKeysError,
    Keyring,
    KeyUnknownError,
    NotAuthenticError,
    Sealed,
    new_key,
    parse_keys,
)

OLD = "old:" + base64.b64encode(bytes(range(32))).decode()
NEW = "new:" + base64.urlsafe_b64encode(bytes(range(224, 256))).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param(NEW, ("new",), id="one"),
        pytest.param(f"{NEW},{OLD}", ("new", "old"), id="two in a variable"),
        pytest.param(f"# ours\n\n{NEW}  # since May\n  {OLD}\n", ("new", "old"), id="a file with comments"),
    ],
)
def test_keys_are_read_in_their_order(text: str, ids: tuple[str, ...]) -> None:
    assert parse_keys(text).key_ids == ids


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(" # none\n", "there is no key", id="none"),
        pytest.param("c2VjcmV0c2VjcmV0", "key 1 has no id that can be used", id="a key without an id"),
        pytest.param(f"{OLD},my key:AAAA", "key 2 has no id that can be used", id="an id with a space"),
        pytest.param(f"{'c2Vj' * 11}:id", "key 1 has no id that can be used", id="an id and a key swapped"),
        pytest.param("short:c2VjcmV0c2VjcmV0", "the key 'short' has 12 bytes", id="a short key"),
        pytest.param("odd:c2Vj!", "the key 'odd' is no base64", id="no base64"),
        pytest.param(f"{OLD} {OLD}", "two keys have the id 'old'", id="an id twice"),
    ],
)
def test_a_key_that_cannot_be_used_is_named_and_not_told(text: str, complaint: str) -> None:
    with pytest.raises(BadKeysError) as caught:
        parse_keys(text)
    assert (str(caught.value).startswith(complaint), "c2Vj" in str(caught.value)) == (True, False)


def test_a_new_key_can_be_read_and_is_another_each_time() -> None:
    made = {new_key(date(2031, 5, 4)) for _ in range(20)}
    assert len(made) == 20
    assert {parse_keys(key).key_ids[0][:11] for key in made} == {"2031-05-04-"}


def test_the_first_key_seals_and_all_open() -> None:
    old, both = parse_keys(OLD), parse_keys(f"{NEW},{OLD}")
    earlier, later = old.seal(b"a", purpose="p"), both.seal(b"b", purpose="p")
    assert (earlier.key_id, later.key_id) == ("old", "new")
    assert (both.open(earlier, purpose="p"), both.open(later, purpose="p")) == (b"a", b"b")


def test_one_text_is_never_sealed_alike() -> None:
    ring = parse_keys(OLD)
    assert len({ring.seal(b"same", purpose="p").data for _ in range(50)}) == 50


@pytest.mark.parametrize(
    ("ring", "here"),
    [
        pytest.param(Keyring(), "this process has no keys", id="none"),
        pytest.param(parse_keys(NEW), "this process has only 'new'", id="another"),
    ],
)
def test_a_key_that_is_not_here_is_named_with_those_that_are(ring: Keyring, here: str) -> None:
    sealed = parse_keys(OLD).seal(b"a", purpose="p")
    with pytest.raises(KeyUnknownError, match=f"encrypted with the key 'old', and {here}: add it"):
        ring.open(sealed, purpose="p")


def test_nothing_opens_but_what_was_sealed_with_this_key_for_this_purpose() -> None:
    ring = parse_keys(f"{OLD},{NEW}")
    sealed = ring.seal(b"a", purpose="p")
    changed = [
        *(Sealed("old", _flipped(sealed.data, place)) for place in range(len(sealed.data))),
        *(Sealed("old", sealed.data[:length]) for length in range(len(sealed.data))),
        Sealed("new", sealed.data),
    ]
    opened = [one for one in changed if _opens(ring, one, "p")] + [1] * _opens(ring, sealed, "q")
    assert (opened, _opens(ring, sealed, "p")) == ([], True)


def test_a_key_with_the_bytes_of_another_does_not_pass_for_it() -> None:
    twin = parse_keys("twin:" + OLD.partition(":")[2])
    sealed = parse_keys(OLD).seal(b"a", purpose="p")
    assert not _opens(twin, Sealed("twin", sealed.data), "p")


def test_the_form_is_the_documented_one() -> None:
    sealed = parse_keys(OLD).seal(b"a", purpose="payload")
    cipher = AESGCM(bytes(range(32)))
    bound = b"surefoot-1:payload:AES-256-GCM:old"
    assert cipher.decrypt(sealed.data[:12], sealed.data[12:], bound) == b"a"


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def _opens(ring: Keyring, sealed: Sealed, purpose: str) -> bool:
    try:
        ring.open(sealed, purpose=purpose)
    except NotAuthenticError:
        return False
    return True
