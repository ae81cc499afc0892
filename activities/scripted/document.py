"""YAML as plain JSON values that remember their lines. Only what a reader sees at once is let through."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import yaml
from pydantic import JsonValue

from surefoot.strict_json import NotStrictJsonError, strict_json

MAX_DEPTH = 50

Place = tuple[str | int, ...]
"""Where a value stands: the names of fields, and positions in lists counted from 0."""


@dataclass(frozen=True)
class Document:
    """One YAML document, and the line on which each of its values begins, counted from 1."""

    value: JsonValue
    lines: Mapping[Place, int]

    def line(self, path: Sequence[str | int]) -> int:
        """Tell the line of a value, or of what it is missing from."""
        for length in range(len(path), 0, -1):
            if (found := self.lines.get(tuple(path[:length]))) is not None:
                return found
        return self.lines.get((), 1)


@dataclass
class NotADocumentError(ValueError):
    """Says why a text is not one document, and on which line."""

    reason: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


def read_document(text: str) -> Document:
    """Read YAML whose plain words mean what they mean in JSON; all others (`no`, `2024-01-01`) are text.

    Anchors, aliases and tags are refused: they make a small text large, and a script hard to read.

    Raises:
        NotADocumentError: with the first thing that is wrong.
    """
    try:
        return _Reader(text).document()
    except NotADocumentError:
        raise
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotADocumentError("a character that no text file holds", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise NotADocumentError(_explained(error), mark.line + 1 if mark else 1) from None
    except (OverflowError, ValueError) as error:
        # PyYAML lets these out of an escape like "\\UFFFFFFFF" and of a version like %YAML 1.<5,000 digits>.
        raise NotADocumentError(f"not YAML: {error}", 1) from None


class _Reader:
    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = iter(yaml.parse(text, Loader=yaml.SafeLoader))
        self._lines: dict[Place, int] = {}

    def document(self) -> Document:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise NotADocumentError("there is nothing in it", 1)
        value = self._value(next(self._events), ())
        next(self._events)
        if not isinstance(after := next(self._events), yaml.StreamEndEvent):
            _refuse(after, "a second document begins, and there can be one only")
        return Document(value, self._lines)

    def _value(self, event: yaml.Event, path: Place) -> JsonValue:
        self._lines.setdefault(path, _line(event))
        _check(event, path)
        match event:
            case yaml.ScalarEvent():
                return _scalar(event)
            case yaml.SequenceStartEvent():
                return self._list(path)
            case _:
                return self._fields(path)

    def _list(self, path: Place) -> list[JsonValue]:
        items: list[JsonValue] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _fields(self, path: Place) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                _refuse(event, "the name of a field must be text; put text that begins with '{{' in quotes")
            name = _unicode(event, event.value)
            if name in fields:
                _refuse(event, f"the field '{name}' stands twice")
            self._lines[(*path, name)] = _line(event)
            fields[name] = self._value(next(self._events), (*path, name))
        return fields


def _explained(error: yaml.MarkedYAMLError) -> str:
    hint = "; put text that holds ': ' in quotes" if "mapping values" in (error.problem or "") else ""
    return f"not YAML: {error.problem}{hint}"


def _check(event: yaml.Event, path: Place) -> None:
    if len(path) > MAX_DEPTH:
        _refuse(event, f"nested deeper than {MAX_DEPTH}")
    match event:
        case yaml.AliasEvent():
            _refuse(event, f"the alias '*{event.anchor}' is refused: write the value out")
        case yaml.NodeEvent(anchor=str(anchor)):
            _refuse(event, f"the anchor '&{anchor}' is refused: write each value out")
        case yaml.ScalarEvent(tag=str(tag)) | yaml.CollectionStartEvent(tag=str(tag)):
            _refuse(event, f"the tag '{tag}' is refused: put text that looks like something else in quotes")
        case _:
            pass


def _scalar(event: yaml.ScalarEvent) -> JsonValue:
    text: str = event.value
    if event.style is not None:
        return _unicode(event, text)
    if text in {"", "~"}:
        return None
    try:
        return strict_json(text)
    except NotStrictJsonError:
        return _unicode(event, text)


def _unicode(event: yaml.Event, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse(event, "half a character (a lone surrogate)")
    return text


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _refuse(event: yaml.Event, reason: str) -> NoReturn:
    raise NotADocumentError(reason, _line(event))
