"""The ways in which a secret may stand in a tool's output."""

import base64
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from activities.tools.secrets.source import LEAST_CHARACTERS

_PERCENT = re.compile("%[0-9A-F]{2}")

_BASE64_COLUMNS = (76, 64)
"""Where `base64` and `openssl` break their lines."""

_LEAST_LINE_CHARACTERS = 12
"""A shorter line of a secret of several lines is not looked for by itself."""


def spellings(secret: str) -> tuple[str, ...]:
    """Give the forms that are looked for, the longest first.

    As it is, and its longer lines; within JSON, in a URL, in HTML; in base64 of either alphabet, wherever in
    a longer text it began; in hexadecimal digits.
    """
    forms = {*_written(secret), *_in_base64(secret.encode()), *_in_hexadecimal(secret.encode())}
    return tuple(sorted({form for form in forms if len(form) >= LEAST_CHARACTERS}, key=len, reverse=True))


def _written(secret: str) -> Iterator[str]:
    for line in secret.split("\n"):
        # The first and the last line of a key are the same in all keys.
        if len(line.strip()) >= _LEAST_LINE_CHARACTERS and not line.startswith("-----"):
            yield line.strip()
    yield from (secret, secret.strip())
    for encoded in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield from (encoded, _PERCENT.sub(lambda found: found[0].lower(), encoded))
    escaped = html.escape(secret)
    yield from (escaped, html.escape(secret, quote=False))
    # As Go writes quotes, and others the single ones.
    numbered = escaped.replace("&#x27;", "&#39;")
    yield from (numbered, numbered.replace("&quot;", "&#34;"))
    for ascii_only in (True, False):
        yield from _in_json(secret, ascii_only=ascii_only)


def _in_json(secret: str, *, ascii_only: bool) -> Iterator[str]:
    escaped = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
    # JSON within JSON; and some writers escape the slash, or what HTML would take for its own.
    yield from (escaped, escaped.replace("/", "\\/"), json.dumps(escaped, ensure_ascii=ascii_only)[1:-1])
    yield escaped.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _in_base64(secret: bytes) -> Iterator[str]:
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret).decode()
        # The digits that hold bits of this secret alone.
        own = encoded[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
        yield from (own, own.translate(str.maketrans("+/", "-_")))
    alone = base64.b64encode(secret).decode()
    for columns in _BASE64_COLUMNS:
        if len(alone) > columns:
            lines = [alone[at : at + columns] for at in range(0, len(alone), columns)]
            yield from ("\n".join(lines), *lines[:-1])


def _in_hexadecimal(secret: bytes) -> Iterator[str]:
    yield from (secret.hex(), secret.hex().upper())
