"""Arguments in a few words, for people who read a timeline."""

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from surefoot.masking import masked_params
from surefoot.redaction import names_a_secret, redacted_params, redacted_text
from surefoot.strict_json import encode_json

MAX_SUMMARY_CHARACTERS = 120

# More than is shown, for a secret that is cut is not known for one.
_LOOKED_AT_CHARACTERS = 2_000

# Neither white space, nor what moves a terminal's cursor, nor what no encoding can carry.
_WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def summarize_params(params: Mapping[str, JsonValue], redact: Sequence[str] = ()) -> str:
    """Give a call's arguments on one line: the bare text when there is only one and it is a string.

    What looks like a secret is left out, see `surefoot.redaction`, and what stands at the paths `redact`.
    """
    match list(params.items()):
        case [(name, str(only))] if not names_a_secret(name) and not redact:
            return shorten_shown(only)
        case _:
            shown = redacted_params(masked_params(params, redact)).items()
            return shorten(", ".join(f"{name}={encode_json(value)}" for name, value in shown))


def shorten_shown(text: str, limit: int = MAX_SUMMARY_CHARACTERS) -> str:
    """Give text as `shorten` does, without what looks like a secret in it."""
    return shorten(redacted_text(shorten(text, _LOOKED_AT_CHARACTERS)), limit)


def shorten(text: str, limit: int = MAX_SUMMARY_CHARACTERS) -> str:
    """Give text on one line of at most `limit` characters, without control characters."""
    line = ""
    for word in _WORD.finditer(text):
        line += f" {word[0]}" if line else word[0]
        if len(line) > limit:
            return f"{line[: limit - 1]}…"
    return line
