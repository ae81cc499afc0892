"""Text and JSON as models write them, made fit for everything that carries them later."""

import re

from pydantic import JsonValue

from surefoot.strict_json import NotStrictJsonError, strict_json

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# Escapes in JSON text: a pair of surrogates and every other escape stay, half a pair does not.
_ESCAPE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\(?!u[dD][89a-fA-F]).)"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}",
    re.DOTALL,
)


def scrub(text: str) -> str:
    """The text with every lone surrogate, which no encoding can carry, replaced by U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


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
