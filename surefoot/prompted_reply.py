"""A reply in the prompted protocol, read as an answer or as tool calls, whatever the model wrote."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, ToolCall
from surefoot.model_text import scrub, scrub_json_text
from surefoot.open_braces import OpenBraces
from surefoot.strict_json import NotStrictJsonError, json_type, strict_json

EMPTY = "it was empty"
MAX_TOOL_NAME_CHARACTERS = 200
"""A longer name is cut: no tool has one, and it would only swell what is shown."""

_OBJECT = re.compile(r"""\{\s*["'\w]""")
_CALL_KEY = re.compile(r"""\{\s*["']?(reasoning|tool_calls|tool|params)["']?\s*:""")
_LINE_START = re.compile(r"(^|\n)[ \t]*(`{1,3}\w*)?[ \t]*\Z")
_CALL_WITHIN_A_LINE = re.compile(r"""\{\s*["'](?:(?:reasoning|tool_calls)["']\s*:|tool["']\s*:\s*["'])""")
_LEFT_OUT = re.compile(r"\.\.\.|…|<")
_FENCE_OPENS = re.compile(r"```\w*\s*\Z")
_FENCE_CLOSES = re.compile(r"\A\s*```")
_BESIDE_PARAMS = ("tool", "reasoning")
_MAX_FAILURES = 200
"""Braces that open no JSON; beyond them a reply is prose or code, and looking on would cost too much."""

_finder = json.JSONDecoder()


@dataclass(frozen=True)
class _Calls:
    """Where a JSON object stands that asks for tools."""

    start: int
    end: int


class _UnreadableError(Exception):
    """Says what is wrong with a reply that was meant to call tools."""


def read_reply(text: str) -> AssistantMessage:
    """Read what a model replied; never raises.

    One JSON object with `tool_calls`, alone, fenced or with prose around it, is calls with the ids
    `call-1`, `call-2`, …; so is a single `{"tool", "params"}`. Text without such an object is the answer.
    A reply that was meant to call tools and cannot be read as that is `unreadable`, and keeps its text.
    """
    text = scrub(text).strip()
    if not text:
        return AssistantMessage(unreadable=EMPTY)
    try:
        found = list(_find(text))
        if not found:
            return AssistantMessage(text=text)
        if len(found) > 1:
            raise _UnreadableError(
                f"it holds {len(found)} JSON objects that call tools; put all calls into one"
            )
        return _message(text, found[0])
    except _UnreadableError as problem:
        return AssistantMessage(text=text, unreadable=str(problem))


def _find(text: str) -> Iterator[_Calls]:
    position, failures, braces = 0, 0, OpenBraces(text)
    while failures < _MAX_FAILURES and (opening := _OBJECT.search(text, position)):
        start = opening.start()
        braces.read_to(start)
        try:
            value, position = _finder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            if _was_meant_to_call(text, start, error):
                raise _UnreadableError(_why_broken(text[start:])) from None
            braces.break_at(start)
            position, failures = opening.end(), failures + 1
        else:
            braces.skip_to(position)
            if _asks_for_tools(cast(JsonValue, value)):
                if braces.broken is not None:
                    # It may be what another call was to write: nobody asked for it to be made.
                    raise _UnreadableError(_why_broken(text[braces.broken :]))
                yield _Calls(start, position)


def _was_meant_to_call(text: str, start: int, error: Exception) -> bool:
    """Tell whether a broken object is one that calls tools, and no code or sketch within a sentence."""
    if _LINE_START.search(text[max(0, start - 80) : start]):
        return _CALL_KEY.match(text, start) is not None
    sketched = isinstance(error, json.JSONDecodeError) and _LEFT_OUT.match(text, error.pos) is not None
    return not sketched and _CALL_WITHIN_A_LINE.match(text, start) is not None


def _asks_for_tools(value: JsonValue) -> bool:
    return isinstance(value, dict) and ("tool_calls" in value or {"tool", "params"} <= value.keys())


def _why_broken(fragment: str) -> str:
    try:
        _finder.raw_decode(fragment)
    except json.JSONDecodeError as error:
        if error.pos >= len(fragment.rstrip("` \t\r\n")) or error.msg.startswith("Unterminated"):
            what = error.msg.removesuffix(" starting at")
            return f"its JSON object is cut off ({what} at character {error.pos})"
        near = fragment[max(0, error.pos - 20) : error.pos + 20]
        what = error.msg.removesuffix(" at")
        return f"its JSON object is not valid: {what} at character {error.pos}, near {near!r}"
    except (ValueError, RecursionError):
        pass
    return "its JSON object holds a number too long or is nested too deep"


def _message(text: str, found: _Calls) -> AssistantMessage:
    try:
        value = strict_json(scrub_json_text(text[found.start : found.end]))
    except NotStrictJsonError as error:
        raise _UnreadableError(f"its JSON object is not valid: {error}") from None
    calls = cast(dict[str, JsonValue], value)
    reasoning = calls.get("reasoning")
    return AssistantMessage(
        text=_prose(text[: found.start], text[found.end :]),
        reasoning=reasoning if isinstance(reasoning, str) else "",
        tool_calls=_tool_calls(calls),
    )


def _prose(before: str, after: str) -> str:
    if fence := _FENCE_OPENS.search(before):
        before, after = before[: fence.start()], _FENCE_CLOSES.sub("", after)
    prose = "\n\n".join(part for part in (before.strip(), after.strip()) if part)
    return prose if any(character.isalnum() for character in prose) else ""


def _tool_calls(value: dict[str, JsonValue]) -> tuple[ToolCall, ...]:
    calls = value.get("tool_calls", [value])
    if not isinstance(calls, list):
        raise _UnreadableError(f"'tool_calls' must be an array, and is {_named(calls)}")
    if not calls:
        raise _UnreadableError("'tool_calls' is empty; to answer, reply without 'tool_calls'")
    return tuple(_tool_call(call, number) for number, call in enumerate(calls, start=1))


def _tool_call(call: JsonValue, number: int) -> ToolCall:
    if not isinstance(call, dict):
        raise _UnreadableError(f"call {number} must be an object, and is {_named(call)}")
    tool = call.get("tool")
    if not isinstance(tool, str) or not tool:
        raise _UnreadableError(f"call {number} does not name its tool as text in 'tool'")
    params = call.get("params")
    if "params" not in call and (others := [key for key in call if key not in _BESIDE_PARAMS]):
        raise _UnreadableError(
            f"call {number} has {others[0][:50]!r} beside 'tool', and no 'params'; "
            "what the tool takes belongs into 'params'"
        )
    if not isinstance(params, dict | None):
        raise _UnreadableError(f"'params' of call {number} must be an object, and is {_named(params)}")
    return ToolCall(id=f"call-{number}", tool=tool[:MAX_TOOL_NAME_CHARACTERS], params=params or {})


def _named(value: JsonValue) -> str:
    kind = json_type(value)
    return kind if value is None else f"{'an' if kind[0] in 'aio' else 'a'} {kind}"
