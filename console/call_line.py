"""A tool call on one line of a terminal, its arguments as far as they have room."""

from collections.abc import Sequence

from rich.text import Text

from console.progress import CallProgress
from console.wording import arguments, tool_name

Styled = tuple[str, str]
"""A text and its style."""

_LEAST_ARGUMENTS_WIDTH = 20


def call_line(call: CallProgress, *, mark: Styled, after: Sequence[Styled], width: int) -> Text:
    """Print mark, tool and arguments, and after them what is never cut; `width` counts cells."""
    head = Text.assemble("  ", mark, " ", (tool_name(call), "bold"))
    tail = Text.assemble(*((f"  {text}", style) for text, style in after if text))
    given = Text(arguments(call))
    room = width - head.cell_len - tail.cell_len - len("  ")
    given.truncate(max(room, _LEAST_ARGUMENTS_WIDTH), overflow="ellipsis")
    return Text.assemble(head, "  " if given else "", given, tail)
