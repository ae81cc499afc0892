"""Paths to parameters: `options.key` is `key` within `options`, and within each item where that is a list."""

import re

ANY_NAME = "*"
"""As a step of a path: whatever the name is."""

_PART = re.compile(r"\\(.)|(\.)|([^.\\]+|\\$)", re.DOTALL)

ParamPath = tuple[str, ...]


def read_path(text: str) -> ParamPath:
    r"""Read a path as it is written; `\.` is a dot within a name."""
    steps = [""]
    for escaped, dot, plain in _PART.findall(text):
        if dot:
            steps.append("")
        else:
            steps[-1] += escaped or plain
    return tuple(steps)


def written_path(path: ParamPath) -> str:
    """Write a path so that `read_path` gives it again."""
    return ".".join(step.replace("\\", "\\\\").replace(".", "\\.") for step in path)
