"""The front matter of an agent file as a definition, or everything that is wrong with it."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import JsonValue, ValidationError

from activities.agents.mistake import Mistake
from activities.agents.reading import read_text
from activities.agents.wording import flaws
from activities.document import Document
from surefoot.agent_definition import AgentDefinition
from surefoot.sizes import MAX_DEFINITIONS_BYTES
from surefoot.strict_json import NotStrictJsonError, json_type, strict_json

_SCHEMA = "outputSchema"


class _NoSchemaError(ValueError):
    """Says in a phrase why a file holds no schema."""


def definition_of(document: Document, path: Path) -> AgentDefinition | list[Mistake]:
    """Read the front matter of the file at a path; without a name it has that of the file."""
    mistakes = [Mistake(flaw.line, flaw.reason, flaw.place) for flaw in document.flaws]
    value = document.value
    if not isinstance(value, dict):
        reason = f"the front matter must be an object of fields, and is of type {json_type(value)}"
        return mistakes or [Mistake(document.line(()), reason)]
    written = {"name": path.stem, **value}
    try:
        written |= _schema(value, path.absolute().parent)
    except _NoSchemaError as error:
        del written[_SCHEMA]
        mistakes.append(Mistake(document.line((_SCHEMA,)), str(error), (_SCHEMA,)))
    try:
        definition = AgentDefinition.model_validate(written)
    except ValidationError as error:
        return [*mistakes, *_mistakes(error, document, path)]
    return mistakes or definition


def _mistakes(error: ValidationError, document: Document, path: Path) -> Iterator[Mistake]:
    refused = {flaw.place for flaw in document.flaws}
    for place, reason in flaws(error):
        if place not in refused:
            unwritten = place == ("name",) and place not in document.lines
            which = (
                f"is that of the file, '{path.stem}', and {reason}; write another" if unwritten else reason
            )
            yield Mistake(document.line(place), which, place)


def _schema(value: dict[str, JsonValue], directory: Path) -> dict[str, JsonValue]:
    """Give the schema of the file that the front matter names, in place of its name.

    Raises:
        _NoSchemaError: the file holds none.
    """
    named = value.get(_SCHEMA)
    if not isinstance(named, str):
        return {}
    file = directory / named
    text = read_text(file, limit_bytes=MAX_DEFINITIONS_BYTES, of="a JSON Schema")
    if not isinstance(text, str):
        raise _NoSchemaError(str(text))
    try:
        return {_SCHEMA: strict_json(text)}
    except NotStrictJsonError as error:
        raise _NoSchemaError(f"{file} is not JSON: {error}") from None
