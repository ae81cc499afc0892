from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.admission import Admitted, Refused, admit
from surefoot.conversation import ToolCall
from surefoot.definition import ToolDefinition
from surefoot.failures import input_too_large, invalid_params, not_found
from surefoot.sizes import MAX_PARAMS_BYTES, MAX_TURN_INPUTS_BYTES
from surefoot.strict_json import encode_json, json_bytes
from tests.surefoot.arbitrary import JSON_VALUES, TEXTS


def tool(name: str, **fields: JsonValue) -> ToolDefinition:
    return ToolDefinition.model_validate({"name": name, "description": "d", "inputSchema": {}, **fields})


READ = tool(
    "read_file",
    inputSchema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "range": {"type": "object", "properties": {"first": {"type": "integer"}}},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)
WAIT = tool(
    "wait",
    inputSchema={"properties": {"seconds": {"type": "integer", "minimum": 1, "maximum": 60, "default": 9}}},
    timeoutParam="seconds",
)
ANY = tool("any", timeoutSeconds=3)
TOOLS = (READ, WAIT, ANY)


def call(name: str, params: JsonValue, call_id: str = "1") -> ToolCall:
    return ToolCall(id=call_id, tool=name, params=params)


@pytest.mark.parametrize(
    ("asked", "definition", "params", "seconds"),
    [
        pytest.param(call("read_file", {"path": "a"}), READ, {"path": "a"}, 30, id="params that fit"),
        pytest.param(call("wait", {"seconds": 20}), WAIT, {"seconds": 20}, 25, id="a timeout of its own"),
        pytest.param(call("wait", {}), WAIT, {}, 14, id="a timeout by default"),
        pytest.param(call("any", {"a": [None]}), ANY, {"a": [None]}, 3, id="anything, without a schema"),
    ],
)
def test_a_call_that_fits_is_made(
    asked: ToolCall, definition: ToolDefinition, params: dict[str, JsonValue], seconds: float
) -> None:
    assert admit([asked], TOOLS) == (Admitted(asked, definition, params, timedelta(seconds=seconds)),)


@pytest.mark.parametrize(
    ("name", "tools", "error"),
    [
        pytest.param(
            "read_fil", TOOLS, "There is no tool 'read_fil'; did you mean 'read_file'?", id="a slip"
        ),
        pytest.param(
            "ANY", TOOLS, "There is no tool 'ANY'; the tools are: any, read_file, wait", id="capitals"
        ),
        pytest.param("any", (), "There is no tool 'any'; there are no tools", id="no tools at all"),
        pytest.param("", TOOLS, "There is no tool ''; the tools are: any, read_file, wait", id="no name"),
        pytest.param(
            "x" * 300_000,
            TOOLS,
            f"There is no tool '{'x' * 64}'; the tools are: any, read_file, wait",
            id="a huge name",
        ),
        pytest.param("\ud800", (ANY,), "There is no tool '?'; the tools are: any", id="a lone surrogate"),
    ],
)
def test_a_call_of_no_tool_is_refused(name: str, tools: tuple[ToolDefinition, ...], error: str) -> None:
    asked = call(name, {"path": 1})
    (decision,) = admit([asked], tools)
    assert decision == Refused(asked, not_found(name, sorted(one.name for one in tools)))
    assert isinstance(decision, Refused)
    assert (decision.failure.error_code, decision.failure.error) == ("TOOL_NOT_FOUND", error)


@pytest.mark.parametrize(
    ("params", "problems"),
    [
        pytest.param({}, ["path: required, and missing"], id="a required field is missing"),
        pytest.param({"path": 1}, ['path: 1 is not of type "string"'], id="a wrong type"),
        pytest.param({"path": "a", "pth": 1}, ["the object: has no such field: pth"], id="an unknown field"),
        pytest.param(
            {"path": "a", "range": {"first": "1"}},
            ['range.first: "1" is not of type "integer"'],
            id="deep down",
        ),
        pytest.param(
            {"range": []},
            ["path: required, and missing", 'range: [] is not of type "object"'],
            id="two at once",
        ),
        pytest.param([], ["expected a JSON object, and got array"], id="an array"),
        pytest.param(None, ["expected a JSON object, and got null"], id="null"),
        pytest.param(1, ["expected a JSON object, and got integer"], id="a number"),
        pytest.param(
            "path=a",
            ["expected a JSON object, and got text that is not one (Expecting value at character 0)"],
            id="text",
        ),
        pytest.param({"path": "\ud800"}, ["a lone surrogate in a string"], id="a lone surrogate"),
    ],
)
def test_params_that_do_not_fit_are_refused_field_by_field(params: JsonValue, problems: list[str]) -> None:
    asked = call("read_file", params)
    assert admit([asked], TOOLS) == (Refused(asked, invalid_params("read_file", problems)),)


def sized(size_bytes: int, call_id: str = "1") -> ToolCall:
    """A call of `any` whose params are this large."""
    return call("any", {"a": "x" * (size_bytes - json_bytes({"a": ""}))}, call_id)


def test_params_as_large_as_the_cap_are_sent() -> None:
    assert isinstance(admit([sized(MAX_PARAMS_BYTES)], TOOLS)[0], Admitted)


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({"a": "x" * MAX_PARAMS_BYTES}, id="an object"),
        pytest.param("x" * MAX_PARAMS_BYTES, id="text"),
        pytest.param({"a": "é" * (MAX_PARAMS_BYTES // 2)}, id="in bytes, not characters"),
    ],
)
def test_params_above_the_cap_are_refused(params: JsonValue) -> None:
    asked = call("any", params)
    failure = input_too_large(
        "any", size_bytes=json_bytes(params), limit_bytes=MAX_PARAMS_BYTES, of="its params"
    )
    assert admit([asked], TOOLS) == (Refused(asked, failure),)


KIB = 1024


@pytest.mark.parametrize(
    ("sizes_kib", "made"),
    [
        pytest.param([512, 512, 512], [True, True, True], id="exactly the cap"),
        pytest.param([1024, 1024], [True, False], id="the second one is too much"),
        pytest.param([1024, 1024, 512, 1], [True, False, True, False], id="a refused one leaves its room"),
        pytest.param([1025, 1024, 512], [False, True, True], id="one above its own cap takes no room"),
        pytest.param([1] * 1_536 + [1], [True] * 1_536 + [False], id="many small ones"),
    ],
)
def test_all_inputs_of_a_turn_stay_below_their_cap(sizes_kib: list[int], made: list[bool]) -> None:
    calls = [sized(size * KIB, str(number)) for number, size in enumerate(sizes_kib)]
    assert [isinstance(one, Admitted) for one in admit(calls, TOOLS)] == made


def test_a_call_that_would_exceed_the_turn_is_told_what_was_measured() -> None:
    first, second = sized(MAX_PARAMS_BYTES, "1"), sized(MAX_PARAMS_BYTES, "2")
    (_, decision) = admit([first, second], TOOLS)
    assert isinstance(decision, Refused)
    assert decision.failure.error == (
        "Tool 'any' was not called: its params and those of this turn's calls before it are 2,097,152 bytes, "
        "above the limit of 1536KB"
    )


def test_what_an_agents_run_is_started_with_counts_as_input() -> None:
    fields: dict[str, JsonValue] = {"name": "any", "description": "d", "inputSchema": {}}
    agent = ToolDefinition.model_validate({**fields, "agent": {"key": "k", "system": "s" * 250 * KIB}})
    calls = [sized(KIB, str(number)) for number in range(7)]

    assert [isinstance(one, Admitted) for one in admit(calls, [agent])] == [*[True] * 6, False]


CALLS = st.builds(
    ToolCall,
    id=TEXTS,
    tool=st.sampled_from(["read_file", "wait", "any", "anny"]) | TEXTS,
    params=st.one_of(
        JSON_VALUES,
        st.fixed_dictionaries({"path": JSON_VALUES}),
        st.fixed_dictionaries({"seconds": st.integers()}),
        st.just({"a": "\ud800"}),
        st.just({"a": "x" * (MAX_TURN_INPUTS_BYTES // 2)}),
    ),
)


@given(calls=st.lists(CALLS, max_size=6), tools=st.sets(st.sampled_from([0, 1, 2])))
def test_every_call_of_a_turn_gets_exactly_one_decision_in_the_order_asked(
    calls: list[ToolCall], tools: set[int]
) -> None:
    decisions = admit(calls, [TOOLS[one] for one in tools])
    assert [decision.call for decision in decisions] == calls


@given(calls=st.lists(CALLS, max_size=6))
def test_what_is_admitted_can_be_carried(calls: list[ToolCall]) -> None:
    admitted = [one for one in admit(calls, TOOLS) if isinstance(one, Admitted)]
    assert sum(len(encode_json(one.params).encode()) for one in admitted) <= MAX_TURN_INPUTS_BYTES
    assert all(timedelta(0) < one.timeout <= timedelta(seconds=86_405) for one in admitted)
