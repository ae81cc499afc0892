"""What docs/encryption.md and docs/executors.md print, tried as it stands there."""

import base64
import json
import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.client import Client

from tests.conftest import RealServer
from tests.workers.encryption.rings import written
from workers.encryption.codec import EncryptionCodec
from workers.encryption.keys import parse_keys

DOCS = Path(__file__).parents[3] / "docs"
ENCRYPTION = (DOCS / "encryption.md").read_text(encoding="utf-8")
CHAPTER = (DOCS / "executors.md").read_text(encoding="utf-8").split("\n## Where runs are encrypted\n")[1]


async def test_the_documented_payload_is_opened_by_the_documented_key() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", CHAPTER.split("\n## ")[0], flags=re.DOTALL)
    form = json.loads(block)
    metadata = dict(
        re.findall(r"^\| `(encryption-cipher|encoding)` \| `(.*?)` \|$", CHAPTER, flags=re.MULTILINE)
    )
    encrypted = Payload(
        metadata={
            **{name: value.encode() for name, value in metadata.items()},
            "encryption-key-id": form["key_id"].encode(),
        },
        data=base64.b64decode(form["data"]),
    )
    (opened,) = await EncryptionCodec(parse_keys(f"{form['key_id']}:{form['key']}")).decode([encrypted])
    assert opened == Payload.FromString(base64.b64decode(form["payload"]))
    assert (dict(opened.metadata), opened.data) == ({"encoding": b"json/plain"}, b'{"ok": true}')


def test_the_documented_payload_is_opened_by_what_the_page_says_alone() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", CHAPTER.split("\n## ")[0], flags=re.DOTALL)
    (bound,) = re.findall(r"associated data is the text\n`(.*?)` and the key's id", CHAPTER)
    form = {
        name: value if name == "key_id" else base64.b64decode(value)
        for name, value in json.loads(block).items()
    }
    nonce, rest = form["data"][:12], form["data"][12:]
    assert AESGCM(form["key"]).decrypt(nonce, rest, f"{bound}{form['key_id']}".encode()) == form["payload"]


@pytest.mark.slow
def test_a_key_is_set_by_the_printed_commands(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", ENCRYPTION, flags=re.DOTALL)
    path = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    shown = subprocess.run(
        ["sh", "-ec", block],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (key_id,) = parse_keys((tmp_path / "surefoot-keys").read_text()).key_ids
    assert shown.stdout == f"{key_id}  encrypts and decrypts\n"


async def test_the_printed_client_has_the_keys_of_the_settings(
    server: RealServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", ENCRYPTION, flags=re.DOTALL)
    monkeypatch.setenv("SUREFOOT_ENCRYPTION_KEYS", written("old", b"o"))
    printed: dict[str, Any] = {}
    exec(code.replace("localhost:7233", server.address), printed)
    client: Client = await printed["connect"]()
    (encoded,) = await client.data_converter.encode(["a"])
    assert encoded.metadata["encryption-key-id"] == b"old"
