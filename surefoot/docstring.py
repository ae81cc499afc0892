"""A Python docstring as its author means it: what is said of the function, its parameters and its answer."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Yields|Raises|Examples?|Notes?|Attributes):",
    re.IGNORECASE,
)
_PARAMETERS = frozenset({"args", "arguments", "parameters", "params"})
_RETURNS = frozenset({"returns", "return"})
_PARAMETER = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


@dataclass(frozen=True)
class Docstring:
    """A docstring in Google's style; what is not there is empty."""

    summary: str = ""
    """Its first paragraph."""
    details: str = ""
    """The paragraphs between the first one and the first section."""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is said of each parameter."""
    returns: str = ""


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; a section that nobody knows is part of the text before it."""
    summary: list[str] = []
    sections: dict[str, list[str]] = {}
    lines = summary
    for line in inspect.cleandoc(text or "").splitlines():
        if heading := _SECTION.fullmatch(line.rstrip()):
            lines = sections.setdefault(heading[1].lower(), [])
        else:
            lines.append(line)
    first, _, rest = "\n".join(summary).strip().partition("\n\n")
    return Docstring(
        summary=first,
        details=rest.strip(),
        parameters={
            name: said
            for section in sections.keys() & _PARAMETERS
            for name, said in _parameters(sections[section]).items()
        },
        returns=" ".join(_joined(sections[section]) for section in sections.keys() & _RETURNS),
    )


def _parameters(lines: list[str]) -> dict[str, str]:
    """Read `name: text` and `name (type): text`; lines that are indented further go on with the text."""
    texts = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    found: dict[str, str] = {}
    name = ""
    for line in texts:
        entry = None if line.startswith(" ") else _PARAMETER.fullmatch(line)
        if entry is not None:
            name = entry[1]
            found[name] = entry[2].strip()
        elif found and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
