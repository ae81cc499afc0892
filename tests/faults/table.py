"""The table that the fault suite prints: a line for each case, as it was seen."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from tests.faults.observation import Observation

_HEADINGS = ("case", "error_code", "exit", "what the model saw", "effects", "survivors", "seconds")
_MOST_CHARACTERS = 60


def table(observed: Mapping[str, Observation]) -> Iterator[str]:
    """Give the lines of the table, its headings first."""
    rows = [_HEADINGS, *(_row(name, one) for name, one in observed.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def to_json(observed: Mapping[str, Observation]) -> dict[str, Any]:
    """Give the observations as plain values."""
    return {name: asdict(one) for name, one in observed.items()}


def from_json(values: Mapping[str, Any]) -> dict[str, Observation]:
    """Read what `to_json` gave."""
    return {name: Observation(**fields) for name, fields in values.items()}


def _row(name: str, one: Observation) -> tuple[str, ...]:
    return (
        name,
        one.told.get("error_code", "success"),
        str(one.told.get("exit_code", "")).replace("None", "null"),
        _shortened(_gist(one.told)),
        str(one.side_effects),
        str(len(one.survivors)),
        f"{one.seconds:.2f}",
    )


def _gist(told: Mapping[str, Any]) -> str:
    if told["tool_success"]:
        return str(told["result"])
    captured = [f"{name}: {told[name]!r}" for name in ("stdout", "stderr") if told[name]]
    return "; ".join([told["error"], *captured])


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    printable = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return printable if len(printable) <= _MOST_CHARACTERS else f"{printable[: _MOST_CHARACTERS - 1]}…"
