from decimal import Decimal

import pytest
from pydantic import JsonValue, ValidationError

from surefoot.agent_definition import AgentDefinition, AgentLimits
from surefoot.limits import Limits

LEAST: dict[str, JsonValue] = {"name": "reviewer", "description": "Reviews a change."}


def test_a_name_and_a_description_are_an_agent_with_the_tools_that_come_along() -> None:
    definition = AgentDefinition.model_validate(LEAST)

    assert (definition.tools, definition.model, definition.protocol) == (("builtin",), None, None)
    assert definition.limits.of_a_run() == Limits()


def test_all_fields_are_in_camel_case_and_limits_are_as_on_the_command_line() -> None:
    limits: JsonValue = {
        "maxTurns": 9,
        "maxToolCalls": 8,
        "maxInputTokens": 7,
        "maxOutputTokens": 6,
        "maxCost": "$2.50",
        "maxTime": "1h30m",
        "maxFailuresInARow": 4,
    }
    written: dict[str, JsonValue] = {
        **LEAST,
        "model": "openai-chat:x",
        "protocol": "prompted",
        "tools": ["builtin", "./tools"],
        "mcpServers": {"time": {"command": "time-server"}},
        "limits": limits,
        "approval": {"*": "first-use", "rm": {"when": {"type": "object"}}},
        "afterUntrusted": {"write": "always", "network": {"when": {"type": "object"}}},
        "network": False,
        "onModelFailure": "wait",
        "outputSchema": {"type": "object"},
    }

    definition = AgentDefinition.model_validate(written)

    assert definition.limits.of_a_run() == Limits(
        max_turns=9,
        max_tool_calls=8,
        max_input_tokens=7,
        max_output_tokens=6,
        max_cost=Decimal("2.50"),
        max_seconds=5400,
        failures_in_a_row=4,
    )
    assert {**definition.model_dump(mode="json"), "limits": limits} == written


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("name", "no name", id="a name with a space"),
        pytest.param("name", "llm_turn", id="a reserved name"),
        pytest.param("description", " ", id="a blank description"),
        pytest.param("model", "", id="an empty model"),
        pytest.param("protocol", "smoke", id="an unknown protocol"),
        pytest.param("tools", "builtin", id="tools that are no list"),
        pytest.param("tools", [""], id="a tool of no name"),
        pytest.param("tools", ["a\0b"], id="a zero byte in a path"),
        pytest.param("mcpServers", [], id="servers without names"),
        pytest.param("approval", {"no name": "always"}, id="approval of no tool"),
        pytest.param("afterUntrusted", {"reads": "always"}, id="a class that is none"),
        pytest.param(
            "afterUntrusted", {"write": "first-use"}, id="a rule that untrusted content does not have"
        ),
        pytest.param("network", "maybe", id="a network that is neither on nor off"),
        pytest.param("network", 1, id="a network that is a number"),
        pytest.param("onModelFailure", "hope", id="an unknown way to wait"),
        pytest.param("outputSchema", {"type": "thing"}, id="a schema that is none"),
        pytest.param("output_schema", {}, id="snake case"),
        pytest.param("colour", "red", id="an unknown field"),
    ],
)
def test_what_does_not_fit_is_refused(field: str, value: JsonValue) -> None:
    with pytest.raises(ValidationError) as caught:
        AgentDefinition.model_validate({**LEAST, field: value})

    assert {error["loc"][0] for error in caught.value.errors()} == {field}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("maxTurns", 0, id="no turns"),
        pytest.param("maxTurns", 1.5, id="half a turn"),
        pytest.param("maxTurns", "9", id="a number in quotes"),
        pytest.param("maxCost", True, id="a cost that is none"),
        pytest.param("maxCost", -1, id="a cost below nothing"),
        pytest.param("maxTime", 30, id="a time without a unit"),
        pytest.param("maxTime", ["30m"], id="a list of times"),
        pytest.param("max_turns", 9, id="snake case"),
    ],
)
def test_a_limit_that_is_none_is_refused(field: str, value: JsonValue) -> None:
    with pytest.raises(ValidationError):
        AgentLimits.model_validate({field: value})


@pytest.mark.parametrize(
    ("written", "network"), [("on", True), ("off", False), (True, True), (False, False), (None, None)]
)
def test_the_network_is_on_or_off_in_words_or_as_a_boolean(written: JsonValue, network: bool | None) -> None:
    assert AgentDefinition.model_validate({**LEAST, "network": written}).network is network
