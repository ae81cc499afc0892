"""Templates: `{{last.result.stdout}}` in a script stands for a value of the conversation so far."""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from surefoot.strict_json import encode_json

_TEMPLATE = re.compile(r"\{\{ *([A-Za-z_][\w-]*(?:\.[\w-]+)*) *\}\}", re.ASCII)


class NotThereError(LookupError):
    """Says which path of a template leads nowhere, and what there is instead."""


def roots(value: JsonValue) -> Iterator[str]:
    """List what the templates in a value begin with: `last` for `{{last.result.stdout}}`."""
    match value:
        case str():
            for found in _TEMPLATE.finditer(value):
                yield found[1].split(".")[0]
        case dict() | list():
            for child in value.values() if isinstance(value, dict) else value:
                yield from roots(child)
        case _:
            pass


def render(value: JsonValue, scope: Mapping[str, JsonValue]) -> JsonValue:
    """Fill the templates in a value; a text that is one template and nothing else becomes what it names.

    Raises:
        NotThereError: for a path that the scope does not have.
    """
    match value:
        case str():
            whole = _TEMPLATE.fullmatch(value)
            return _find(whole[1], scope) if whole else render_text(value, scope)
        case list():
            return [render(item, scope) for item in value]
        case dict():
            return {name: render(item, scope) for name, item in value.items()}
        case _:
            return value


def render_text(text: str, scope: Mapping[str, JsonValue]) -> str:
    """Fill the templates in a text: texts without their last line breaks, everything else as JSON.

    Where a template begins its line, all lines of its value are indented as it is.

    Raises:
        NotThereError: for a path that the scope does not have.
    """

    def value(found: re.Match[str]) -> str:
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        filled = _as_text(_find(found[1], scope))
        return filled if before.strip(" ") else filled.replace("\n", f"\n{before}")

    return _TEMPLATE.sub(value, text)


def _as_text(value: JsonValue) -> str:
    return value.rstrip("\r\n") if isinstance(value, str) else encode_json(value)


def _find(path: str, scope: Mapping[str, JsonValue]) -> JsonValue:
    at: JsonValue = dict(scope)
    steps = path.split(".")
    for depth, step in enumerate(steps):
        match at:
            case dict() if step in at:
                at = at[step]
            case list() if step.isdecimal() and len(step) < 10 and int(step) < len(at):
                at = at[int(step)]
            case _:
                raise NotThereError(f"'{{{{{path}}}}}' is not there: {_instead('.'.join(steps[:depth]), at)}")
    return at


def _instead(path: str, value: JsonValue) -> str:
    match value:
        case dict():
            there = f"has {', '.join(value)}" if value else "is empty"
            return f"{path or 'the conversation so far'} {there}"
        case list():
            return f"{path} is a list of {len(value)}, counted from 0"
        case _:
            return f"{path} is {encode_json(value)[:80]}"
