"""The only parser of anything that comes from outside."""

import json
import math
import re
from collections.abc import Iterable
from itertools import chain
from typing import NoReturn, cast

from pydantic import JsonValue

MAX_NESTING = 100
MAX_INTEGER_DIGITS = 4_300

_TYPE_NAMES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class NotStrictJsonError(ValueError):
    """Says in one phrase why a text is not one strict JSON value."""


def strict_json(text: str | bytes) -> JsonValue:
    """Parse exactly one JSON value that every payload converter can carry.

    Stricter than `json.loads` where the wire is: UTF-8 without a byte order mark, no text after the value,
    no NaN, Infinity or number that overflows to one, integers of at most 4,300 digits, nesting of at most
    100, no lone surrogate, no key twice in one object.

    Raises:
        NotStrictJsonError: with the first thing that is wrong.
    """
    decoded = _decode(text)
    try:
        value = cast(JsonValue, _decoder.decode(decoded))
    except json.JSONDecodeError as error:
        # Some of the standard library's messages already lead over to the place.
        reason = error.msg.rstrip(": ").removesuffix(" at")
        raise NotStrictJsonError(f"{reason} at character {error.pos}") from None
    except RecursionError:
        raise NotStrictJsonError(f"nested deeper than {MAX_NESTING}") from None
    _check_tree(value)
    return value


def encode_json(value: JsonValue) -> str:
    """Encode a value as JSON text without ASCII escapes, in the one form that sizes are measured in.

    Raises:
        ValueError: for NaN and Infinity, which JSON cannot carry.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def json_bytes(value: JsonValue) -> int:
    """Tell how many bytes `encode_json` gives in UTF-8; a lone surrogate counts as three."""
    return len(encode_json(value).encode("utf-8", "surrogatepass"))


def json_type(value: JsonValue) -> str:
    """Name the JSON type of a value: object, array, string, boolean, integer, number or null."""
    return _TYPE_NAMES[type(value)]


def more_values_than(limit: int, value: JsonValue) -> bool:
    """Tell whether a JSON value consists of more values than this: itself, its items, its members' values."""
    left, seen = [value], 0
    while left and seen <= limit:
        node = left.pop()
        seen += 1
        match node:
            case dict():
                left.extend(node.values())
            case list():
                left.extend(node)
            case _:
                pass
    return seen > limit


def nesting(value: JsonValue) -> int:
    """Tell how deep a JSON value is nested: 0 for one that holds no other, 1 for a list of numbers."""
    level, depth = [value], 0
    while level:
        _, containers = _sorted_out(level)
        depth += bool(containers)
        level = list(chain.from_iterable(containers))
    return depth


def surely_more_values_than(limit: int, text: bytes) -> bool:
    """Tell, without parsing it, whether a JSON text consists of more values than this; False when unsure."""
    if max(text.count(b","), text.count(b"[") + text.count(b"{")) <= limit:
        return False
    bare = _STRING.sub(b"", text)
    return max(bare.count(b","), bare.count(b"[") + bare.count(b"{")) > limit


def most_values_of(text: bytes) -> int:
    """Tell, without parsing it, how many values a JSON text may consist of at most."""
    # Each value but the first of all stands first in a container or after a comma.
    bare = _STRING.sub(b"", text)
    return 1 + bare.count(b",") + bare.count(b"[") + bare.count(b"{")


def is_unicode(text: str) -> bool:
    """Tell whether UTF-8 can carry a text: whether no lone surrogate is in it."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _decode(text: str | bytes) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotStrictJsonError(f"not UTF-8 at byte {error.start}") from None
    if text.startswith("\ufeff"):
        raise NotStrictJsonError("starts with a byte order mark")
    if not text.strip(" \t\r\n"):
        raise NotStrictJsonError("empty")
    return text


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS and len(digits.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise NotStrictJsonError(f"an integer of more than {MAX_INTEGER_DIGITS:,} digits")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrictJsonError("a number that is too large")
    return number


def _constant(name: str) -> NoReturn:
    raise NotStrictJsonError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotStrictJsonError(f"the key {_first_repeated(pairs)[:50]!r} stands twice in one object")
    return value


def _first_repeated(pairs: list[tuple[str, JsonValue]]) -> str:
    seen: set[str] = set()
    return next(key for key, _ in pairs if key in seen or seen.add(key))


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_integer, parse_constant=_constant
)


def _check_tree(value: JsonValue) -> None:
    level, nesting = [value], 0
    while level:
        strings, containers = _sorted_out(level)
        if not is_unicode("".join(strings)):
            raise NotStrictJsonError("a lone surrogate in a string")
        nesting += bool(containers)
        if nesting > MAX_NESTING:
            raise NotStrictJsonError(f"nested deeper than {MAX_NESTING}")
        level = list(chain.from_iterable(containers))


def _sorted_out(nodes: list[JsonValue]) -> tuple[list[str], list[Iterable[JsonValue]]]:
    """Give the strings among values of one level, keys included, and what each container holds."""
    strings: list[str] = []
    containers: list[Iterable[JsonValue]] = []
    for node in nodes:
        # Not `isinstance`: a workflow's sandbox wraps it, and would spend seconds on a large value.
        match node:
            case str():
                strings.append(node)
            case dict():
                strings.extend(node)
                containers.append(node.values())
            case list():
                containers.append(node)
            case _:
                pass
    return strings, containers
