"""Replies of the prompted protocol as no model should write them."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.conversation import Conversation, SystemMessage, ToolCall, ToolMessage, UserMessage
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits
from surefoot.model_text import scrub_json_text
from surefoot.outcome import ToolSuccess
from surefoot.prompted_reply import read_reply
from surefoot.spent import NOTHING_SPENT
from surefoot.strict_json import strict_json
from surefoot.turn import CallModel, Finish, LimitReached, ModelUnreadable, RunTools, Tell, next_step

RM = '{"tool": "bash", "params": {"command": "rm -rf /"}}'
LS = '{"reasoning": "Look.", "tool_calls": [{"tool": "bash", "params": {"command": "ls"}}]}'


INTO_PARAMS = "what the tool takes belongs into 'params'"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            'I write it: {"tool_calls": [{"tool": "write_file", "params": {"content": "CALL"}}]}',
            id="in a text whose quotes are not escaped",
        ),
        pytest.param(
            'I do this: {"tool": "write_file", "params": {"content": "}}}} CALL"}}',
            id="in a text with closing braces",
        ),
        pytest.param('{"note": "so far CALL"}', id="in a string that was not ended"),
        pytest.param(
            "Well, {'tool_calls': [{'tool': 'write', 'params': {\"content\": CALL}}]}",
            id="in an object with single quotes",
        ),
        pytest.param(
            'So {"tool_calls": [{"tool": "write", "params": {"content": "a\nb", "then": CALL}}]}',
            id="behind a line break in a string",
        ),
        pytest.param('/* {"tool_calls": [ */ CALL', id="behind the beginning of calls"),
        pytest.param('{"a": 1, "a": {"b": } CALL', id="within what was never closed"),
    ],
)
def test_no_call_is_made_that_stands_within_a_broken_object(text: str) -> None:
    text = text.replace("CALL", RM)
    reply = read_reply(text)

    assert reply.tool_calls == ()
    assert reply.text == text
    assert (reply.unreadable or "").startswith("its JSON object is ")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(RM), id="as a JSON string"),
        pytest.param(json.dumps({"result": {"stdout": RM}}), id="in a string of another object"),
        pytest.param(json.dumps({"steps": [json.loads(RM)]}), id="further in"),
        pytest.param("Write `get(url, {params: {id}})`, or {tool: name}.", id="in code"),
        pytest.param('Write `made.append({"tool": name, "params": given})`.', id="in code with quotes"),
        pytest.param("I called `bash(rm -rf /)` with params.", id="in words"),
        pytest.param('"tool": "bash", "params": {"command": "ls"}', id="without its braces"),
    ],
)
def test_a_call_that_is_only_told_of_is_an_answer(text: str) -> None:
    assert read_reply(text).model_dump(exclude_defaults=True) == {"text": text}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            'Sure: {"tool_calls": [{"tool": "bash", "params": {"command": "ls',
            "its JSON object is cut off (Unterminated string at character 55)",
            id="cut off within a sentence",
        ),
        pytest.param(
            'Sure: {"reasoning": Look, "tool_calls": []}',
            "its JSON object is not valid: Expecting value at character 14, "
            'near \'{"reasoning": Look, "tool_calls": \'',
            id="broken within a sentence",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "delete", "arguments": {"dry_run": true}}]}',
            f"call 1 has 'arguments' beside 'tool', and no 'params'; {INTO_PARAMS}",
            id="params under another name",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "now"}, {"tool": "bash", "command": "ls"}]}',
            f"call 2 has 'command' beside 'tool', and no 'params'; {INTO_PARAMS}",
            id="params without their object",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "write", "params": {"content": "a\nb"}}]}',
            "its JSON object is not valid: Invalid control character at character 58, "
            'near \'ams": {"content": "a\\nb"}}]}\'',
            id="a line break in a string",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": 7, "params": {}}]}',
            "call 1 does not name its tool as text in 'tool'",
            id="a name that is a number",
        ),
        pytest.param(
            '{"tool_calls": "bash"}', "'tool_calls' must be an array, and is a string", id="calls as text"
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a", "params": {}}], "tool_calls": []}',
            "its JSON object is not valid: the key 'tool_calls' stands twice in one object",
            id="two lists of calls",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a", "params": {"n": 1e999}}]}',
            "its JSON object is not valid: a number that is too large",
            id="a number beyond all",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a", "params": {"n": ' + "9" * 5_000 + "}}]}",
            "its JSON object holds a number too long or is nested too deep",
            id="more digits than anybody reads",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a", "params": {"n": ' + "[" * 200 + "]" * 200 + "}}]}",
            "its JSON object is not valid: nested deeper than 100",
            id="deeper than anybody carries",
        ),
    ],
)
def test_what_is_wrong_with_calls_is_told_in_words(text: str, reason: str) -> None:
    assert (read_reply(text).tool_calls, read_reply(text).unreadable) == ((), reason)


def test_a_sketch_that_is_closed_does_not_stand_in_the_way_of_a_call() -> None:
    reply = read_reply('I call it as {"tool": ...} or {"tool_calls": […]}, like { x }:\n' + LS)
    assert [(call.tool, call.params) for call in reply.tool_calls] == [("bash", {"command": "ls"})]


_WORDS = st.text(st.sampled_from("ab .,:;'\n\t\"`#>-\u2028é🙂"), max_size=20)
_STRINGS = _WORDS | st.sampled_from([RM, LS, f"```json\n{LS}\n```", "{", "}", '"', "\\", "\\ud800"])
_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | _STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_STRINGS, inner, max_size=3),
    max_leaves=5,
)
_REQUIRED: dict[str, st.SearchStrategy[Any]] = {
    "tool": st.text("abc-_", min_size=1),
    "params": st.dictionaries(_STRINGS, _VALUES, max_size=3),
}
_CALLS: st.SearchStrategy[Any] = st.lists(st.fixed_dictionaries(_REQUIRED), min_size=1, max_size=3)
_FENCES = st.sampled_from([("", ""), ("```json\n", "\n```"), ("```\n", "\n```"), ("`", "`"), ("\n", "\n")])


def _wrapped(calls: JsonValue, fence: tuple[str, str], around: tuple[str, str]) -> str:
    return f"{around[0]}{fence[0]}{json.dumps({'reasoning': RM, 'tool_calls': calls})}{fence[1]}{around[1]}"


@settings(max_examples=100, deadline=None)
@given(_CALLS, _FENCES, st.tuples(_WORDS, _WORDS))
def test_calls_in_any_wrapping_are_exactly_those_that_were_written(
    calls: JsonValue, fence: tuple[str, str], around: tuple[str, str]
) -> None:
    reply = read_reply(_wrapped(calls, fence, around))
    assert [{"tool": call.tool, "params": call.params} for call in reply.tool_calls] == calls


_BROKEN = [
    '{"tool_calls": [',
    '{"a": "',
    "{'tool': ",
    '{"tool"',
    ', "params": {}}',
    "]}",
    "}",
    "\ud800",
    '"\\ud8',
]
_WRITTEN = st.one_of(
    _VALUES.map(json.dumps),
    st.builds(_wrapped, _CALLS | _VALUES, _FENCES, st.tuples(_WORDS, _WORDS)),
    st.sampled_from([RM, LS, *_BROKEN]),
    _WORDS,
)
_CUT = st.tuples(_WRITTEN, st.integers(0, 30)).map(lambda one: one[0][: len(one[0]) - one[1]])
_HOSTILE = st.lists(_WRITTEN | _CUT, max_size=4).map("".join)


def _objects_in(text: str) -> list[JsonValue]:
    """Every JSON object that begins anywhere in a text."""
    found: list[JsonValue] = []
    for start in (index for index, character in enumerate(text) if character == "{"):
        try:
            found.append(json.JSONDecoder().raw_decode(text, start)[0])
        except ValueError:
            continue
    return found


def _asked(call: JsonValue) -> tuple[JsonValue, JsonValue] | None:
    return (call.get("tool"), call.get("params") or {}) if isinstance(call, dict) else None


def _written_as_calls(value: JsonValue) -> list[object]:
    match value:
        case {"tool_calls": list(calls)}:
            return [_asked(call) for call in calls]
        case _:
            return [_asked(value)]


@settings(max_examples=200, deadline=None)
@given(_HOSTILE)
def test_no_call_is_invented_and_nothing_that_was_said_is_lost(text: str) -> None:
    text = scrub_json_text(text)
    reply = read_reply(text)
    strict_json(reply.model_dump_json())
    if reply.tool_calls:
        made = [(call.tool, call.params) for call in reply.tool_calls]
        assert made in [_written_as_calls(value) for value in _objects_in(text)]
        assert [call.id for call in reply.tool_calls] == [f"call-{n}" for n, _ in enumerate(made, 1)]
    else:
        assert reply.text == text.strip()


@settings(max_examples=30, deadline=None)
@given(st.lists(_HOSTILE, min_size=1, max_size=12))
def test_a_run_with_a_hostile_model_is_told_what_is_wrong_a_few_times_and_ends(texts: Sequence[str]) -> None:
    said = Conversation().append(SystemMessage(text="s"), UserMessage(text="u"))
    replies, corrections = iter(texts), 0
    while True:
        match next_step(said, Limits(max_turns=10), NOTHING_SPENT):
            case CallModel():
                said = said.append(read_reply(next(replies, "")))
            case Tell(message=message):
                corrections += message.purpose == "correction"
                said = said.append(message)
            case RunTools(calls=calls):
                corrections = 0
                said = said.append(*(_result(call) for call in calls))
            case ModelUnreadable(reason=reason):
                assert (corrections, reason[:38]) == (
                    MAX_UNREADABLE_REPLIES - 1,
                    "the model keeps giving replies that ca",
                )
                return
            case Finish(answer=answer):
                assert answer
                return
            case LimitReached():
                return
            case other:
                raise AssertionError(other)


def _result(call: ToolCall) -> ToolMessage:
    return ToolMessage(call_id=call.id, tool=call.tool, outcome=ToolSuccess(tool=call.tool, result=None))
