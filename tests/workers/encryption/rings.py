"""Keys of tests, and clients that have them."""

import base64

from temporalio.client import Client

from workers.encryption.converter import encrypting
from workers.encryption.keys import Keyring, parse_keys


def written(key_id: str, byte: bytes) -> str:
    """Write a key that is one byte 32 times."""
    return f"{key_id}:{base64.b64encode(byte * 32).decode()}"


OLD = parse_keys(written("old", b"o"))
NEW = parse_keys(written("new", b"n"))
BOTH = parse_keys(f"{written('new', b'n')} {written('old', b'o')}")
OTHER = parse_keys(written("old", b"x"))
"""Another key of the id of the old one."""
NONE = Keyring()


def having(client: Client, keys: Keyring) -> Client:
    """Give a client that has these keys."""
    config = client.config()
    config["data_converter"] = encrypting(keys)
    return Client(**config)
