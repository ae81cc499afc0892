"""Secrets taken out of what people are shown of a call, as far as they can be told from other text.

It is best effort, and for eyes alone: the model, the tool and the history have every value as it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat

from pydantic import JsonValue

REDACTED = "[redacted]"

_MOST_VALUES = 200
_MOST_CHARACTERS = 4_000

_WORDS = (
    "password|passwd|passphrase|secret|credentials?|authorization|api_?key|access_?key|private_?key|"
    "access_?token|auth_?token|refresh_?token|bearer|cookie"
)
_KEY = re.compile(rf"{_WORDS}|(?:^|_)(?:token|pwd|auth)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")

# What is taken out stands in group 1; each pattern goes through a text once.
_IN_TEXT = (
    # A single hyphen is one of a header within, such as `DEK-Info`.
    re.compile(
        r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]++|-(?!----))*+"
        r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?)"
    ),
    re.compile(r"://([^\s/@:\"']{0,200}:[^\s/@\"']{1,200})@"),
    re.compile(r"\b(?:bearer|basic)[ :=]+([A-Za-z0-9._~+/=-]{6,})", re.IGNORECASE),
    re.compile(r"\b(sk-[A-Za-z0-9_-]{6,})"),
    re.compile(r"\b(gh[opsur]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,})"),
    re.compile(r"\b(xox[abeprs]-[A-Za-z0-9-]{8,}|A[KS]IA[0-9A-Z]{12,}|AIza[0-9A-Za-z_-]{30,})"),
    re.compile(r"\b([rs]k_(?:live|test)_[A-Za-z0-9]{8,}|(?:npm|hf)_[A-Za-z0-9]{30,})"),
    # Only where a word begins, or many beginnings would each be followed to the same end.
    re.compile(r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?)"),
    re.compile(
        r"(?:password|passwd|passphrase|secret|token|credentials?|api[_-]?key|access[_-]?key|pwd)"
        r"\\?[\"']?(?:\s{0,3}[:=]\s{0,3}|\s{1,3}(?=[^\s\"'-]*\d))\\?[\"']?"
        # To the quote that ends it, be it an escaped one of JSON in a text; else to where a word ends.
        r"((?<=\\[\"'])[^\"'\\\n]++|(?<=\")(?:[^\"\\\n]++|\\.)++|(?<=')[^'\n]++|[^\s\"'&;,|<>]{3,})",
        re.IGNORECASE,
    ),
    re.compile(
        r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:[a-z]{1,20} )?([^\s\"'&;,|<>]{3,})", re.IGNORECASE
    ),
)


def redacted_text(text: str, *, whole: bool = False) -> str:
    """Give the beginning of a text, up to 4,000 characters, without what looks like a secret in it.

    With `whole` it is all of it, which takes some tenths of a second for 1 MB.
    """
    text = text if whole else text[:_MOST_CHARACTERS]
    for pattern in _IN_TEXT:
        text = pattern.sub(_without_group, text)
    return text


def redacted(value: JsonValue, *, whole: bool = False) -> JsonValue:
    """Give a JSON value without its secrets; of a large one the first 200 values, or the `whole`."""
    return _redacted(value, repeat(0) if whole else iter(range(_MOST_VALUES)), whole=whole)


def redacted_params(params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Give a call's arguments as `redacted` does."""
    return _fields(params, iter(range(_MOST_VALUES)), whole=False)


def names_a_secret(key: str) -> bool:
    """Tell whether the value of such a key is a secret: `password`, `apiKey`, `X-Auth-Token`."""
    words = _NO_WORD.sub("_", _CAMEL.sub("_", key[:200])).lower().strip("_")
    return _KEY.search(words) is not None


def _redacted(value: JsonValue, left: Iterator[int], *, whole: bool) -> JsonValue:
    match value:
        case str():
            return redacted_text(value, whole=whole)
        case dict():
            return _fields(value, left, whole=whole)
        case list():
            return _items(value, left, whole=whole)
        case bool() | int() | float() | None:
            return value


def _fields(fields: Mapping[str, JsonValue], left: Iterator[int], *, whole: bool) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {}
    for name, value in fields.items():
        if next(left, None) is None:
            break
        secret = names_a_secret(name) and value not in (None, "") and not isinstance(value, bool)
        shown[redacted_text(name, whole=whole)] = REDACTED if secret else _redacted(value, left, whole=whole)
    return shown


def _items(items: Sequence[JsonValue], left: Iterator[int], *, whole: bool) -> list[JsonValue]:
    looked_at = items if whole else items[:_MOST_VALUES]
    return [_redacted(item, left, whole=whole) for item in looked_at if next(left, None) is not None]


def _without_group(found: re.Match[str]) -> str:
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return f"{found[0][:start]}{REDACTED}{found[0][end:]}"
