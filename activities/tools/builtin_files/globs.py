"""Globs over paths, as `.gitignore` and ripgrep read them."""

from __future__ import annotations

import re

from activities.tools.builtin_files.refusal import RefusalError

_PIECE = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^\]]*\]|\\.|[{},]|.", re.DOTALL)
_WRITTEN = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}


class Glob:
    """Which files are meant: a whole path if a `/` is in it, else a name at any depth; `!` is all others."""

    def __init__(self, text: str) -> None:
        """Read a glob: `*`, `**`, `?`, `[a-z]` and `{a,b}`.

        Raises:
            RefusalError: it cannot be read.
        """
        self._others = text.startswith("!")
        pattern = text.removeprefix("!")
        depth = "" if "/" in pattern else "(?:.*/)?"
        try:
            self._pattern = re.compile(depth + _regex(pattern.removeprefix("/")), re.DOTALL)
        except re.error as error:
            raise RefusalError(f"the glob {text!r} cannot be read: {error}") from None

    def takes(self, path: str) -> bool:
        """Tell whether a file is meant, by its path from where the search begins."""
        return (self._pattern.fullmatch(path) is not None) is not self._others


def _regex(glob: str) -> str:
    depth = 0
    pieces: list[str] = []
    for piece in _PIECE.findall(glob):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        if piece == "," and depth > 0:
            pieces.append("|")
        elif piece.startswith("[") and len(piece) > 1:
            inside = piece[1:-1].replace("\\", "\\\\")
            pieces.append(f"[{'^' + inside[1:] if inside.startswith('!') else inside}]")
        elif piece in _WRITTEN:
            pieces.append(_WRITTEN[piece])
        else:
            pieces.append(re.escape(piece.removeprefix("\\") if len(piece) > 1 else piece))
    return "".join(pieces)
