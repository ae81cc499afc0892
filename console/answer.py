"""The answer of a run, on stdout."""

from typing import TextIO

from console.json_text import json_text
from console.lines import write_line
from console.safe_text import safe_text
from surefoot.events import RunFinished

_MAX_MARKDOWN_CHARACTERS = 100_000
"""A longer answer is printed as it is: laying it out would take seconds."""


def print_ending(finished: RunFinished, stdout: TextIO) -> None:
    """Print what a run came to: its answer, and of one that had to fit a schema the value, on one line."""
    if finished.output is None:
        print_answer(finished.answer, stdout)
    else:
        write_line(stdout, json_text(finished.output))


def print_answer(answer: str | None, stdout: TextIO) -> None:
    """Print an answer as it is, and on a terminal as markdown; no answer, or an empty one, prints nothing."""
    if not answer:
        return
    if not stdout.isatty():
        write_line(stdout, answer)
    elif len(answer) > _MAX_MARKDOWN_CHARACTERS:
        write_line(stdout, safe_text(answer))
    else:
        # Loading it takes a tenth of a second, and only a terminal needs it.
        from console.markdown import print_markdown

        print_markdown(answer, stdout)
