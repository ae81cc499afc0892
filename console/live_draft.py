"""What the model has written of its reply so far, as the lines of a terminal that change all the time."""

import textwrap
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, chop_cells
from rich.text import Text

from activities.interface import Written
from console.safe_text import safe_line
from console.wording import counted, last_lines
from workers.snapshot import RunningActivity

_TOOL_CHARACTERS = 64
_LEAST_CELLS = 10
_MARGIN = "    │ "


def draft_lines(running: Iterable[RunningActivity], *, lines: int, width: int) -> Iterator[Text]:
    """Draw the end of the text, and what the model is doing that is not shown."""
    for written in (one.written for one in running):
        if written is None or written.doing is None:
            continue
        broken = [part for line in last_lines(written.text, lines) for part in _fitting(line, width)]
        for line in broken[-lines:]:
            yield Text(_MARGIN + line, "dim")
        if written.doing != "text":
            yield Text(f"    {_doing(written)}", "dim")


def _fitting(line: str, width: int) -> Iterator[str]:
    """Break a line between words: a paragraph is one, and what is new stands at its end."""
    room = max(width - cell_len(_MARGIN), _LEAST_CELLS)
    for part in textwrap.wrap(line, room):
        yield from chop_cells(part, room) if cell_len(part) > room else (part,)


def _doing(written: Written) -> str:
    amount = f"{counted(written.characters, 'character')} so far"
    if written.doing == "reasoning":
        return f"reasoning, {amount}"
    return f"writing a call of {safe_line(written.tool or '', _TOOL_CHARACTERS)}, {amount}"
