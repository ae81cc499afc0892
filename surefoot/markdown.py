"""Text of any origin within markdown, where it can neither end its place nor begin another."""

from functools import lru_cache

from surefoot.summary import shorten_shown

_NOTHING = "—"

# In a code span nothing but its end is read; in a table, a pipe is read even there.
_LOOKALIKES = str.maketrans({"`": "'", "|": "¦"})


# A run shows the same few texts again with each of its events.
@lru_cache(maxsize=2_048)
def code(text: str, limit: int = 80) -> str:
    """Give text as a code span on one line, of at most `limit` characters, without its secrets."""
    line = shorten_shown(text, limit).translate(_LOOKALIKES)
    return f"`{line}`" if line else _NOTHING
