"""Text from models and tools made harmless for a terminal."""

import re

from surefoot.summary import MAX_SUMMARY_CHARACTERS, shorten

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
_DELETE = {0x7F: "\u2421"}
_SURROGATES_AS = "\ufffd"

# C1 controls, line and paragraph separators, and what changes the direction of the text after it.
_ESCAPED = re.compile("[\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def safe_text(text: str) -> str:
    """Give text in which nothing but newline and tab controls a terminal.

    Every other control character is shown: ESC as `␛`, C1 controls and bidirectional overrides as their
    code. Lone surrogates become U+FFFD. It holds for rich only where the text is not parsed as markup:
    hand it over as `rich.text.Text`.
    """
    shown = text.translate(_CONTROL_PICTURES | _DELETE)
    shown = _ESCAPED.sub(lambda match: f"<U+{ord(match[0]):04X}>", shown)
    return _SURROGATES.sub(_SURROGATES_AS, shown)


def safe_line(text: str, limit: int = MAX_SUMMARY_CHARACTERS) -> str:
    """Give safe text on one line of at most `limit` characters."""
    return shorten(safe_text(text), limit)
