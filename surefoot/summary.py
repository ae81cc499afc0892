"""Arguments in a few words, for people who read a timeline."""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from surefoot.strict_json import encode_json

MAX_SUMMARY_CHARACTERS = 120

# Neither white space, nor what moves a terminal's cursor, nor what no encoding can carry.
_WORD = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def summarize_params(params: Mapping[str, JsonValue]) -> str:
    """Give a call's arguments on one line: the bare text when there is only one and it is a string."""
    match list(params.values()):
        case [str(only)]:
            return shorten(only)
        case _:
            return shorten(", ".join(f"{name}={encode_json(value)}" for name, value in params.items()))


def shorten(text: str, limit: int = MAX_SUMMARY_CHARACTERS) -> str:
    """Give text on one line of at most `limit` characters, without control characters."""
    line = ""
    for word in _WORD.finditer(text):
        line += f" {word[0]}" if line else word[0]
        if len(line) > limit:
            return f"{line[: limit - 1]}…"
    return line
