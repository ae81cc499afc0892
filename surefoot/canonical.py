"""JSON in the one form that is hashed and signed."""

import hashlib
import json

from pydantic import JsonValue


def canonical_json(value: JsonValue) -> str:
    """Give a value as JSON with sorted keys, no spaces, and no ASCII escapes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def json_sha256(value: JsonValue) -> str:
    """Give the SHA-256 of the UTF-8 of that, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode(errors="surrogatepass")).hexdigest()
