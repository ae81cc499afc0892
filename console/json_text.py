"""JSON as it is printed."""

import re

from pydantic import JsonValue

from surefoot.strict_json import encode_json

# Controls and separators that JSON allows in a string as they are, and that a terminal or a reader of
# lines acts upon; and surrogates, which no stream can carry.
_RAW = re.compile("[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def json_text(value: JsonValue) -> str:
    """Give JSON on one line that no reader of lines splits and no terminal obeys; its value is unchanged."""
    return escape_controls(encode_json(value))


def escape_controls(text: str) -> str:
    """Give the same JSON with the control characters in its strings as escapes."""
    return _RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
