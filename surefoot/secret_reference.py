"""References to secrets, `secret://NAME`, in what a model or an author writes; never a secret itself."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

NAME_PATTERN = r"[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*"

SecretName = Annotated[str, Field(pattern=rf"^{NAME_PATTERN}$", max_length=100)]
"""What a secret is called: letters, digits and `_`; within it, `-` and `.` as well."""

_REFERENCE = re.compile(rf"secret://({NAME_PATTERN})")


def referenced(value: JsonValue) -> tuple[str, ...]:
    """Name the secrets that the texts of a JSON value refer to, each once; not those in keys of objects."""
    return tuple(dict.fromkeys(_referenced(value)))


def with_secrets(value: JsonValue, secrets: Mapping[str, str]) -> JsonValue:
    """Put secrets in place of their references; a reference to any other stays as it is."""
    match value:
        case str():
            return text_with_secrets(value, secrets)
        case dict():
            return {name: with_secrets(each, secrets) for name, each in value.items()}
        case list():
            return [with_secrets(each, secrets) for each in value]
        case bool() | int() | float() | None:
            return value


def text_with_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """Put secrets in place of their references in a text."""
    return _REFERENCE.sub(lambda found: secrets.get(found[1], found[0]), text)


def secrets_sentence(names: Sequence[str]) -> str:
    """Tell the model which secrets a tool takes, and how."""
    references = ", ".join(f"`secret://{name}`" for name in names)
    return (
        f"In place of a secret, write its reference, alone or within a longer text: {references}. "
        "Only the tool is given the value; in what it answers, the value is hidden."
    )


def _referenced(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield from _REFERENCE.findall(value)
        case dict():
            for each in value.values():
                yield from _referenced(each)
        case list():
            for each in value:
                yield from _referenced(each)
        case bool() | int() | float() | None:
            return
