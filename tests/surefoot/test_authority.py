"""Public keys as people write them, and the keys of a run."""

import pytest
from pydantic import ValidationError

from surefoot.authority import MAX_KEYS, PublicKey, base64url, key_named, public_key_text, read_public_key
from surefoot.run import RunInput

RAW = bytes(range(32))
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"


def test_a_key_is_read_as_it_is_written() -> None:
    assert public_key_text(RAW, "ada") == f"ada:{KEY}"
    assert read_public_key(f"ada:{KEY}") == PublicKey("ada", RAW)


def test_a_key_without_a_name_goes_by_its_id() -> None:
    assert read_public_key(KEY).name == read_public_key(KEY).id == "630dcd2966c43366"


def test_a_key_is_found_by_its_id() -> None:
    assert key_named((f"ada:{KEY}",), "630dcd2966c43366") == PublicKey("ada", RAW)
    assert key_named((f"ada:{KEY}",), "ada") is None


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        pytest.param(["ada"], "a key is NAME:KEY or KEY", id="no key"),
        pytest.param([KEY + "="], "a key is NAME:KEY or KEY", id="padding"),
        pytest.param([KEY[:-1]], "a key is NAME:KEY or KEY", id="31 bytes"),
        pytest.param([f"a b:{KEY}"], "a key is NAME:KEY or KEY", id="a space in the name"),
        pytest.param([f"a:{KEY}", f"b:{KEY}"], "two of the keys are the same", id="one key twice"),
        pytest.param([f"a:{KEY}", f"a:{KEY[::-1]}"], "have the same name", id="one name twice"),
        pytest.param(
            [base64url(bytes([n]) * 32) for n in range(MAX_KEYS + 1)], "32 is the limit", id="too many"
        ),
    ],
)
def test_keys_that_cannot_be_told_apart_or_read_are_refused(keys: list[str], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        RunInput.model_validate({"prompt": "p", "model": "m", "authority": keys})


def test_a_run_without_an_authority_is_written_as_ever() -> None:
    assert "authority" not in RunInput(prompt="p", model="m").model_dump_json()
