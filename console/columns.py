"""A table for people, as plain lines."""

from collections.abc import Iterator, Sequence


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Print rows in columns, each as wide as its widest cell; the last one is as long as it is."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for *cells, last in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        yield "  ".join([*padded, last]).rstrip()
