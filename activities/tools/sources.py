"""What `--tools` names: the tools that come with Surefoot, a directory, or a Python function."""

import re
from pathlib import Path

from activities.tools.functions.loading import FunctionSource

BUILTIN = "builtin"
"""The source that stands for the tools that come with Surefoot."""

BUILTIN_DIRECTORY = Path(__file__).parent / "builtin"
"""The tools that come with Surefoot: bash."""

BUILTINS: dict[str, Path] = {
    BUILTIN: BUILTIN_DIRECTORY,
    f"{BUILTIN}:files": Path(__file__).parent / "builtin_files",
}
"""All sources that stand for tools that come with Surefoot, and where these are."""

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_FUNCTION = re.compile(rf"(?:(?P<directory>/.*):)?(?P<module>{_DOTTED}):(?P<attribute>{_DOTTED})", re.DOTALL)


def source_directory(source: str) -> Path:
    """Give the directory that a source of tools stands for: `builtin`, `builtin:files`, or a path."""
    return BUILTINS.get(source, Path(source))


def source_of(text: str) -> Path | FunctionSource:
    """Read what `--tools` takes: a word of `BUILTINS`, a directory, `module:attribute`, or
    `/directory:module:attribute`.

    Without a directory a module is looked for in the current one. A directory whose name looks like a
    function's is meant by a path: `./module:attribute`.
    """
    written = _FUNCTION.fullmatch(text)
    if written is None or written["module"] == BUILTIN:
        return source_directory(text)
    directory = Path(written["directory"]) if written["directory"] else Path.cwd()
    return FunctionSource(directory, written["module"], written["attribute"])
