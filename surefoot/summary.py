"""Arguments in a few words, for people who read a timeline."""

from collections.abc import Mapping

from pydantic import JsonValue

from surefoot.strict_json import encode_json

MAX_SUMMARY_CHARACTERS = 120


def summarize_params(params: Mapping[str, JsonValue]) -> str:
    """Give a call's arguments on one line: the bare text when there is only one and it is a string."""
    match list(params.values()):
        case [str(only)]:
            return shorten(only)
        case _:
            return shorten(", ".join(f"{name}={encode_json(value)}" for name, value in params.items()))


def shorten(text: str, limit: int = MAX_SUMMARY_CHARACTERS) -> str:
    """Give text on one line of at most `limit` characters."""
    line = " ".join(text[: 10 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
