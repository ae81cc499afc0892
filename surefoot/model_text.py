"""Text and JSON as models write them, made fit for everything that carries them later."""

import re

from pydantic import JsonValue

from surefoot.strict_json import NotStrictJsonError, strict_json

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Where a reply arrives in pieces, each half of a pair may come in one of its own.
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

# Escapes in JSON text: a pair of surrogates and every other escape stay, half a pair does not.
_ESCAPE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\(?!u[dD][89a-fA-F]).)"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}",
    re.DOTALL,
)


def scrub(text: str) -> str:
    """The text with every lone surrogate, which no encoding can carry, replaced by U+FFFD.

    Two halves of a pair side by side become the character that they stand for.
    """
    return _LONE_SURROGATE.sub("\ufffd", _SPLIT_PAIR.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def scrub_json_text(text: str) -> str:
    """The JSON text without lone surrogates, escaped ones included; valid JSON stays valid."""
    return _ESCAPE.sub(lambda escape: escape[1] or r"\ufffd", scrub(text))


def read_arguments(text: str) -> JsonValue:
    """Read a tool call's arguments: the JSON object that they are, else the scrubbed text itself.

    No text at all stands for no arguments.
    """
    if not text.strip():
        return {}
    try:
        arguments = strict_json(scrub_json_text(text))
    except NotStrictJsonError:
        return scrub(text)
    return arguments if isinstance(arguments, dict) else scrub(text)
