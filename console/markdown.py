"""Markdown laid out for a terminal, and nothing in it that the terminal obeys."""

from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown
from rich.segment import Segment

from console.safe_text import safe_text


def print_markdown(text: str, terminal: TextIO) -> None:
    """Lay out markdown from a model, keep its line breaks, and show where its links lead."""
    Console(file=terminal, highlight=False).print(SafeMarkdown(text))


class SafeMarkdown:
    """Markdown as a renderable that keeps line breaks and control characters harmless."""

    def __init__(self, text: str) -> None:
        self._markdown = Markdown(safe_text(text), hyperlinks=False)
        for token in self._markdown.parsed:
            for child in token.children or ():
                # A space in markdown; but models break lines where they mean it.
                if child.type == "softbreak":
                    child.type = "hardbreak"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Markdown can also write a control character as an entity.
        for text, style, control in console.render(self._markdown, options):
            yield Segment(text if control else safe_text(text), style, control)
