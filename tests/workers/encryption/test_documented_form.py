"""The encrypted payload of docs/executors.md, which an executor in any language can try."""

import base64
import json
import re
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload

from workers.encryption.codec import EncryptionCodec
from workers.encryption.keys import parse_keys

DOCS = Path(__file__).parents[3] / "docs"
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
