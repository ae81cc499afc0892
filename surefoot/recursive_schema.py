"""How many ways a JSON Schema has to fit a value that it leads back to itself for, level by level."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

_ROOT = "#"
_MOST_REFERENCES = 200
"""A schema with more of them counts as one that leads back: to look would take longer than it is worth."""


def alternatives(schema: Mapping[str, JsonValue]) -> int:
    """Give the most alternatives that a schema which leads back to itself has at one place; else 1.

    What does not fit such a schema has something wrong with it for each alternative of each level.
    """
    return max([1, *_choices(dict(schema))]) if is_recursive(schema) else 1


def is_recursive(schema: Mapping[str, JsonValue]) -> bool:
    """Tell whether a schema's references lead back to where they stand; unsure, it says yes."""
    leading = _references_by_place(schema)
    if leading is None:
        return True
    while ends := [place for place, references in leading.items() if not references]:
        for place in ends:
            del leading[place]
        for references in leading.values():
            references.difference_update(ends)
    return bool(leading)


def _references_by_place(schema: Mapping[str, JsonValue]) -> dict[str, set[str]] | None:
    """Give for the whole, and for each place that is referred to, what it refers to; None when unsure."""
    leading: dict[str, set[str]] = {}
    waiting = [_ROOT]
    while waiting:
        place = waiting.pop()
        part = _at(schema, place)
        if part is None or len(leading) > _MOST_REFERENCES:
            return None
        leading[place] = set(_references(part))
        waiting += [found for found in leading[place] if found not in leading and found not in waiting]
    return leading


def _at(schema: Mapping[str, JsonValue], place: str) -> JsonValue:
    """Give what a JSON pointer names; None for what is no pointer, or names nothing."""
    if not (place == _ROOT or place.startswith("#/")):
        return None
    node: JsonValue = dict(schema)
    for step in place.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        match node:
            case dict():
                node = node.get(key)
            case list() if key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            case _:
                return None
    return node


def _references(part: JsonValue) -> Iterator[str]:
    for node in _objects(part):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(reference := node.get(keyword), str):
                yield reference


def _choices(part: JsonValue) -> Iterator[int]:
    for node in _objects(part):
        for keyword in ("anyOf", "oneOf"):
            if isinstance(choices := node.get(keyword), list):
                yield len(choices)


def _objects(part: JsonValue) -> Iterator[dict[str, JsonValue]]:
    left = [part]
    while left:
        match left.pop():
            case dict() as node:
                yield node
                left.extend(node.values())
            case list() as nodes:
                left.extend(nodes)
            case _:
                pass
