"""YAML as plain JSON values that remember their lines. Only what a reader sees at once is let through."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml
from pydantic import JsonValue

from surefoot.strict_json import NotStrictJsonError, is_unicode, strict_json

MAX_DEPTH = 50

Place = tuple[str | int, ...]
"""Where a value stands: the names of fields, and positions in lists counted from 0."""


@dataclass(frozen=True)
class Document:
    """One YAML document, and the line on which each of its values begins, counted from 1."""

    value: JsonValue
    lines: Mapping[Place, int]
    flaws: tuple["NotADocumentError", ...] = ()
    """What is refused in it, in order; the value is as if it were not there."""

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
    place: Place = ()

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


def read_document(text: str) -> Document:
    """Read YAML whose plain words mean what they mean in JSON; all others (`no`, `2024-01-01`) are text.

    Anchors, aliases and tags are refused: they make a small text large, and a script hard to read.

    Raises:
        NotADocumentError: with the first thing that is wrong.
    """
    document = scan_document(text)
    for flaw in document.flaws:
        raise flaw
    return document


def scan_document(text: str) -> Document:
    """Read YAML as `read_document` does, with everything that is refused in it listed as its flaws.

    Raises:
        NotADocumentError: it is no YAML at all, or too deep to be read on.
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
        self._flaws: list[NotADocumentError] = []

    def document(self) -> Document:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            raise NotADocumentError("there is nothing in it", 1)
        value = self._value(next(self._events), ())
        next(self._events)
        if not isinstance(after := next(self._events), yaml.StreamEndEvent):
            self._refuse(after, (), "a second document begins, and there can be one only")
        return Document(value, self._lines, tuple(self._flaws))

    def _value(self, event: yaml.Event, path: Place) -> JsonValue:
        self._lines.setdefault(path, _line(event))
        if len(path) > MAX_DEPTH:
            raise NotADocumentError(f"nested deeper than {MAX_DEPTH}", _line(event), path)
        if (reason := _why_refused(event)) is not None:
            self._refuse(event, path, reason)
        match event:
            case yaml.ScalarEvent():
                return self._scalar(event, path)
            case yaml.SequenceStartEvent():
                return self._list(path)
            case yaml.MappingStartEvent():
                return self._fields(path)
            case _:
                return None

    def _list(self, path: Place) -> list[JsonValue]:
        items: list[JsonValue] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _fields(self, path: Place) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            name = self._name(event, path)
            if name is None:
                self._value(next(self._events), (*path, ""))
                continue
            if name in fields:
                self._refuse(event, (*path, name), f"the field '{name}' stands twice")
            self._lines[(*path, name)] = _line(event)
            fields[name] = self._value(next(self._events), (*path, name))
        return fields

    def _name(self, event: yaml.Event, path: Place) -> str | None:
        if isinstance(event, yaml.ScalarEvent):
            return self._unicode(event, path)
        self._refuse(
            event, path, "the name of a field must be text; put text that begins with '{{' in quotes"
        )
        self._value(event, (*path, ""))
        return None

    def _scalar(self, event: yaml.ScalarEvent, path: Place) -> JsonValue:
        text: str = event.value
        if event.style is None:
            if text in {"", "~"}:
                return None
            try:
                return strict_json(text)
            except NotStrictJsonError:
                pass
        return self._unicode(event, path)

    def _unicode(self, event: yaml.ScalarEvent, path: Place) -> str:
        text: str = event.value
        if is_unicode(text):
            return text
        self._refuse(event, path, "half a character (a lone surrogate)")
        return ""

    def _refuse(self, event: yaml.Event, path: Place, reason: str) -> None:
        self._flaws.append(NotADocumentError(reason, _line(event), path))


def _explained(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "cannot be read"
    if "mapping values" in problem:
        return f"not YAML: {problem}; put text that holds ': ' in quotes"
    if repr("\t") in problem:
        return "not YAML: a tab stands where only spaces may"
    return f"not YAML: {problem}"


def _why_refused(event: yaml.Event) -> str | None:
    match event:
        case yaml.AliasEvent():
            return f"the alias '*{event.anchor}' is refused: write the value out"
        case yaml.NodeEvent(anchor=str(anchor)):
            return f"the anchor '&{anchor}' is refused: write each value out"
        case yaml.ScalarEvent(tag=str(tag)) | yaml.CollectionStartEvent(tag=str(tag)):
            return f"the tag '{tag}' is refused: put text that looks like something else in quotes"
        case _:
            return None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
