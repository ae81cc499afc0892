import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, ToolCall
from surefoot.prompted_reply import read_reply
from surefoot.strict_json import strict_json

LS = ToolCall(id="call-1", tool="bash", params={"command": "ls"})
OBJECT = '{"reasoning": "Look.", "tool_calls": [{"tool": "bash", "params": {"command": "ls"}}]}'
ONE_CALL = AssistantMessage(reasoning="Look.", tool_calls=(LS,))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("There are 4 files.", id="plain text"),
        pytest.param('{"files": 4}', id="a JSON object of another kind"),
        pytest.param("[1, 2]", id="an array"),
        pytest.param("Use `{ foo }` and {bar: 1}.", id="braces in prose"),
        pytest.param('```json\n{"tools": []}\n```', id="JSON in a fence"),
        pytest.param('Call it as {"tool": ...} if you like.', id="a sketch of a call within a sentence"),
        pytest.param('{"result": {"tool_calls": []}}', id="the key further in"),
    ],
)
def test_text_that_asks_for_no_tool_is_the_answer(text: str) -> None:
    assert read_reply(f"\n{text}\n") == AssistantMessage(text=text)


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        pytest.param(OBJECT, ONE_CALL, id="the object alone"),
        pytest.param(f"\n\n{OBJECT}\n", ONE_CALL, id="blank lines around it"),
        pytest.param(f"```json\n{OBJECT}\n```", ONE_CALL, id="in a fence"),
        pytest.param(f"```\n{OBJECT}\n```", ONE_CALL, id="in a fence without a language"),
        pytest.param(
            f"First I look.\n\n{OBJECT}\n\nThen I tell.",
            ONE_CALL.model_copy(update={"text": "First I look.\n\nThen I tell."}),
            id="prose around it",
        ),
        pytest.param(
            f"First:\n```json\n{OBJECT}\n```\nThen.",
            ONE_CALL.model_copy(update={"text": "First:\n\nThen."}),
            id="prose around a fence",
        ),
        pytest.param(f"{OBJECT}}}", ONE_CALL, id="a brace too many"),
        pytest.param(
            'if (x) { "y" } ' + OBJECT,
            ONE_CALL.model_copy(update={"text": 'if (x) { "y" }'}),
            id="code before it",
        ),
        pytest.param(
            '{"tool": "bash", "params": {"command": "ls"}}',
            AssistantMessage(tool_calls=(LS,)),
            id="a call without its wrapper",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "now"}, {"tool": "bash", "params": null}]}',
            AssistantMessage(
                tool_calls=(
                    ToolCall(id="call-1", tool="now", params={}),
                    ToolCall(id="call-2", tool="bash", params={}),
                )
            ),
            id="two calls without params",
        ),
        pytest.param(
            '{"reasoning": 7, "tool_calls": [{"tool": "bash", "params": {"command": "\\ud800"}}]}',
            AssistantMessage(tool_calls=(LS.model_copy(update={"params": {"command": "\ufffd"}}),)),
            id="half a surrogate pair, and reasoning that is no text",
        ),
        pytest.param(
            json.dumps({"tool_calls": [{"tool": "x" * 1000}]}),
            AssistantMessage(tool_calls=(ToolCall(id="call-1", tool="x" * 200, params={}),)),
            id="a name that goes on and on",
        ),
    ],
)
def test_one_json_object_with_tool_calls_is_calls(text: str, reply: AssistantMessage) -> None:
    assert read_reply(text) == reply


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "it was empty", id="nothing"),
        pytest.param(" \n\t", "it was empty", id="blanks"),
        pytest.param(
            f"{OBJECT}\n{OBJECT}",
            "it holds 2 JSON objects that call tools; put all calls into one",
            id="two objects",
        ),
        pytest.param(
            OBJECT[:38],
            "its JSON object is cut off (Expecting value at character 38)",
            id="cut off between values",
        ),
        pytest.param(
            OBJECT[:49],
            "its JSON object is cut off (Unterminated string at character 47)",
            id="cut off within a string",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "bash" "params": {}}]}',
            "its JSON object is not valid: Expecting ',' delimiter at character 32, "
            'near \'": [{"tool": "bash" "params": {}}]}\'',
            id="a comma missing",
        ),
        pytest.param(
            "{'tool_calls': []}",
            "its JSON object is not valid: Expecting property name enclosed in double quotes at character 1, "
            "near \"{'tool_calls': []}\"",
            id="single quotes",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a", "tool": "b"}]}',
            "its JSON object is not valid: the key 'tool' stands twice in one object",
            id="a key twice",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a", "params": {"x": NaN}}]}',
            "its JSON object is not valid: NaN is not JSON",
            id="not a number",
        ),
        pytest.param(
            '{"tool_calls": ' + "[" * 5_000,
            "its JSON object holds a number too long or is nested too deep",
            id="nested without end",
        ),
        pytest.param('{"tool_calls": {}}', "'tool_calls' must be an array, and is an object", id="no array"),
        pytest.param('{"tool_calls": null}', "'tool_calls' must be an array, and is null", id="null"),
        pytest.param(
            '{"reasoning": "Done.", "tool_calls": []}',
            "'tool_calls' is empty; to answer, reply without 'tool_calls'",
            id="no calls",
        ),
        pytest.param(
            '{"tool_calls": ["ls"]}', "call 1 must be an object, and is a string", id="a call that is text"
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "a"}, {"name": "bash"}]}',
            "call 2 does not name its tool as text in 'tool'",
            id="the name under another key",
        ),
        pytest.param(
            '{"tool_calls": [{"tool": "bash", "params": "ls"}]}',
            "'params' of call 1 must be an object, and is a string",
            id="params that are text",
        ),
    ],
)
def test_a_call_that_cannot_be_read_says_why_and_keeps_its_text(text: str, reason: str) -> None:
    assert read_reply(text) == AssistantMessage(text=text.strip(), unreadable=reason)


pieces = st.sampled_from(
    [
        *(
            '{"tool_calls"',
            ":",
            "[",
            "]",
            "{",
            "}",
            '"tool"',
            '"params"',
            '"',
            "\\",
            ",",
            "```",
            "\n",
            "1e999",
        ),
        *("\ud800", "\\ud800", OBJECT, OBJECT[:30], "'", "NaN", " "),
    ]
)


@settings(deadline=None)
@given(st.lists(pieces | st.text(st.characters(codec=None), max_size=5), max_size=30).map("".join))
def test_every_text_is_read_as_an_answer_as_calls_or_as_unreadable(text: str) -> None:
    reply = read_reply(text)
    kinds = (bool(reply.tool_calls), reply.unreadable is not None)
    strict_json(reply.model_dump_json())
    assert kinds in {(True, False), (False, True)} or reply.text


json_objects = st.dictionaries(
    st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=4), max_size=4
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(min_size=1, max_size=64), json_objects), min_size=1, max_size=5))
def test_calls_written_in_the_protocol_are_read_exactly(
    calls: list[tuple[str, dict[str, JsonValue]]],
) -> None:
    text = json.dumps({"tool_calls": [{"tool": tool, "params": params} for tool, params in calls]})
    assert [(call.tool, call.params) for call in read_reply(text).tool_calls] == calls


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a":' * 200_000, id="nested objects"),
        pytest.param('{"a": "' + "x" * 1_000_000, id="a string without end"),
        pytest.param(' {" ' * 250_000, id="braces and quotes"),
        pytest.param('{"x": "y"}' * 100_000, id="small objects"),
        pytest.param("{" + " " * 1_000_000, id="a brace and blanks"),
    ],
)
def test_a_megabyte_of_nonsense_is_an_answer(text: str) -> None:
    assert read_reply(text).text == text.strip()
