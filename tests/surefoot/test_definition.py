from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from pydantic import JsonValue, ValidationError

from surefoot.definition import (
    CaptureLimits,
    JsonSchema,
    Manifest,
    ToolAnnotations,
    ToolDefinition,
    schema_properties,
)
from surefoot.limits import Limits
from tests.surefoot.arbitrary import DEFINITIONS

MINIMAL: dict[str, Any] = {"name": "bash", "description": "Runs commands.", "inputSchema": {}}
SECONDS: JsonSchema = {"type": "integer", "default": 30, "minimum": 1, "maximum": 600}


def read(**fields: JsonValue) -> ToolDefinition:
    return ToolDefinition.model_validate({**MINIMAL, **fields})


def with_timeout(**parameter: JsonValue) -> ToolDefinition:
    schema: JsonSchema = {"properties": {"timeout": {**SECONDS, **parameter}}}
    return read(inputSchema=schema, timeoutParam="timeout", timeoutSeconds=45)


def places(fields: dict[str, Any], model: type[ToolDefinition] = ToolDefinition) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(fields)
    return [
        (".".join(map(str, error["loc"])), error["msg"])
        for error in refused.value.errors()
        if error["type"] != "default_factory_not_called"
    ]


def test_only_name_description_and_input_schema_are_required() -> None:
    assert read() == ToolDefinition(
        name="bash",
        description="Runs commands.",
        usage=None,
        input_schema={},
        output_schema=None,
        annotations=ToolAnnotations(),
        timeout_seconds=30,
        timeout_param=None,
        limits=CaptureLimits(stdout=10_240, stderr=4_096, result=102_400),
        exclusive=False,
        executor_queue=None,
        pickup_timeout_seconds=60,
        heartbeat_seconds=15,
        approval="never",
    )


FULL: dict[str, Any] = {
    "name": "bash",
    "description": "Runs commands.",
    "usage": "When commands help.",
    "inputSchema": {"type": "object", "properties": {"timeout": SECONDS}},
    "outputSchema": {"type": "object"},
    "annotations": {
        "title": "Bash",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    },
    "timeoutSeconds": 45.0,
    "timeoutParam": "timeout",
    "limits": {"stdout": 200, "stderr": 300, "result": 4_000},
    "exclusive": True,
    "executorQueue": "gpu",
    "pickupTimeoutSeconds": 5.0,
    "heartbeatSeconds": 2.0,
    "approval": {"when": {"required": ["timeout"]}},
    "approvalTimeoutSeconds": 600.0,
}


@pytest.mark.parametrize("model", [ToolDefinition, Manifest])
def test_a_definition_is_read_and_written_in_camel_case(model: type[ToolDefinition]) -> None:
    assert model.model_validate(FULL).model_dump(mode="json") == FULL


def test_a_manifest_gives_the_definition_that_travels() -> None:
    definition = Manifest.model_validate(FULL).definition()
    assert (type(definition), definition) == (ToolDefinition, ToolDefinition.model_validate(FULL))


AGENT: dict[str, Any] = {
    "key": "agents/reviewer.md",
    "model": "test:m",
    "protocol": "prompted",
    "system": "Review.",
    "limits": {**Limits(max_turns=7).model_dump(mode="json")},
    "outputSchema": {"type": "object"},
}


def test_an_agent_travels_in_its_definition_and_is_left_out_where_there_is_none() -> None:
    written = {**FULL, "agent": AGENT}

    assert ToolDefinition.model_validate(written).model_dump(mode="json") == written
    assert "agent" not in ToolDefinition.model_validate({**FULL, "agent": None}).model_dump()


def test_a_manifest_makes_no_agent() -> None:
    found = places({**MINIMAL, "agent": {"key": "k"}}, model=Manifest)
    assert [place for place, _ in found] == ["agent"]


@given(definition=DEFINITIONS)
def test_every_definition_survives_json(definition: ToolDefinition) -> None:
    assert ToolDefinition.model_validate_json(definition.model_dump_json()) == definition


def test_a_manifest_may_have_no_field_that_nobody_knows() -> None:
    found = places({**MINIMAL, "timeout": 3}, model=Manifest)
    assert found == [("timeout", "Extra inputs are not permitted")]


def test_a_definition_from_a_newer_writer_may_have_fields_that_nobody_knows() -> None:
    assert read(colour="blue", limits={"lines": 3}, annotations={"x": 1}) == read()


@pytest.mark.parametrize("name", ["a", "A-b_9", "-", "x" * 64, "events"])
def test_a_name_of_letters_digits_and_lines_is_accepted(name: str) -> None:
    assert read(name=name).name == name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("x" * 65, id="65 characters"),
        pytest.param("a b", id="a space"),
        pytest.param("bash\n", id="a line break at the end"),
        pytest.param("../bash", id="a path"),
        pytest.param("a.b", id="a dot"),
        pytest.param("café", id="a letter of another alphabet"),
    ],
)
def test_another_name_is_refused(name: str) -> None:
    expected = "String should match pattern '^[A-Za-z0-9_-]{1,64}$'"
    assert places({**MINIMAL, "name": name}) == [("name", expected)]


@pytest.mark.parametrize(
    "name", ["llm_turn", "list_tools", "keep_conversation", "compact_context", "surefoot"]
)
def test_a_reserved_name_is_refused(name: str) -> None:
    assert places({**MINIMAL, "name": name}) == [("name", f"Value error, the name '{name}' is reserved")]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        pytest.param({"description": ""}, "description", id="an empty description"),
        pytest.param({"inputSchema": []}, "inputSchema", id="a schema that is an array"),
        pytest.param({"inputSchema": True}, "inputSchema", id="a schema that is true"),
        pytest.param({"inputSchema": {"type": "array"}}, "inputSchema", id="params that are an array"),
        pytest.param({"inputSchema": {"type": ["object"]}}, "inputSchema", id="a list of one type"),
        pytest.param({"inputSchema": {"type": "objct"}}, "inputSchema", id="a type that is none"),
        pytest.param({"inputSchema": {"$ref": "https://example.com/a"}}, "inputSchema", id="a remote schema"),
        pytest.param(
            {"inputSchema": {"properties": {"a": 1}}}, "inputSchema", id="a property that is a number"
        ),
        pytest.param({"outputSchema": {"pattern": "(?=a)"}}, "outputSchema", id="look-ahead"),
        pytest.param({"timeoutSeconds": 0}, "timeoutSeconds", id="no time"),
        pytest.param({"timeoutSeconds": -1}, "timeoutSeconds", id="less than no time"),
        pytest.param({"timeoutSeconds": 86_401}, "timeoutSeconds", id="more than a day"),
        pytest.param({"timeoutSeconds": float("nan")}, "timeoutSeconds", id="NaN seconds"),
        pytest.param({"pickupTimeoutSeconds": 1e-9}, "pickupTimeoutSeconds", id="what rounds to no time"),
        pytest.param({"heartbeatSeconds": 0.5}, "heartbeatSeconds", id="half a second between heartbeats"),
        pytest.param({"limits": {"stdout": 127}}, "limits.stdout", id="limits without room for the marker"),
        pytest.param({"limits": {"stderr": 65_537}}, "limits.stderr", id="limits that no payload can hold"),
        pytest.param({"limits": {"result": 1_023}}, "limits.result", id="a result without room for its ends"),
        pytest.param({"limits": {"result": 2**20 + 1}}, "limits.result", id="a result above every answer"),
        pytest.param({"executorQueue": ""}, "executorQueue", id="a queue without a name"),
        pytest.param({"approval": "sometimes"}, "approval", id="an approval that is none"),
    ],
)
def test_a_field_that_cannot_be_is_refused_at_its_place(fields: dict[str, Any], place: str) -> None:
    assert [found for found, _ in places({**MINIMAL, **fields})] == [place]


def test_a_refused_schema_says_where_and_why() -> None:
    fields = {**MINIMAL, "inputSchema": {"properties": {"a": {"pattern": "(?!b)"}}}}
    expected = 'Value error, the schema is refused: properties.a.pattern: "(?!b)" is not a "regex"'
    assert places(fields) == [("inputSchema", expected)]


@pytest.mark.parametrize(
    ("fields", "heartbeat"),
    [
        pytest.param({}, timedelta(seconds=15), id="15 s on the run's own queue"),
        pytest.param({"executorQueue": "gpu"}, None, id="none from another queue's executor"),
        pytest.param({"executorQueue": None}, timedelta(seconds=15), id="15 s where the queue is null"),
        pytest.param({"executorQueue": "gpu", "heartbeatSeconds": 3}, timedelta(seconds=3), id="unless told"),
        pytest.param({"executorQueue": "gpu", "heartbeatSeconds": None}, None, id="null on another queue"),
        pytest.param({"heartbeatSeconds": None}, None, id="null on the run's own queue"),
        pytest.param({"heartbeatSeconds": 2.5}, timedelta(seconds=2.5), id="as told"),
    ],
)
def test_heartbeats_are_expected_of_executors_that_promise_them(
    fields: dict[str, JsonValue], heartbeat: timedelta | None
) -> None:
    definition = read(**fields)
    travelled = ToolDefinition.model_validate_json(definition.model_dump_json())
    assert (definition.heartbeat_timeout, travelled.heartbeat_timeout) == (heartbeat, heartbeat)


@pytest.mark.parametrize(
    ("definition", "params", "timeout"),
    [
        pytest.param(read(), {"timeout": 5}, 30, id="a parameter that only has the name"),
        pytest.param(read(timeoutSeconds=1.5), {}, 1.5, id="the manifest's own"),
        pytest.param(with_timeout(), {"timeout": 100}, 105, id="the call's, and the margin"),
        pytest.param(with_timeout(), {}, 35, id="the parameter's default"),
        pytest.param(with_timeout(type="number"), {"timeout": 0.25}, 5.25, id="a fraction"),
        pytest.param(
            read(
                inputSchema={"properties": {"t": {"type": "number", "maximum": 9}}},
                timeoutParam="t",
                timeoutSeconds=45,
            ),
            {},
            50,
            id="no default: the manifest's, and the margin",
        ),
        pytest.param(with_timeout(maximum=86_400), {"timeout": 86_400}, 86_405, id="a day"),
        pytest.param(
            with_timeout(), {"timeout": -20}, 5, id="less than nothing, where the schema lets it through"
        ),
        pytest.param(with_timeout(), {"timeout": 10**4_000}, 86_405, id="a huge one that no schema stopped"),
        pytest.param(with_timeout(), {"timeout": "60"}, 50, id="text that no schema stopped"),
        pytest.param(with_timeout(), {"timeout": True}, 50, id="a boolean that no schema stopped"),
        pytest.param(with_timeout(), {"timeout": None}, 50, id="null that no schema stopped"),
    ],
)
def test_a_call_may_run_as_long_as_it_asked_and_its_tool_allows(
    definition: ToolDefinition, params: dict[str, JsonValue], timeout: float
) -> None:
    assert definition.timeout_for(params) == timedelta(seconds=timeout)


NO_NUMBER = "is an integer or a number"
NO_MAXIMUM = "has a maximum, of at most 86,400 seconds"
NO_DEFAULT = "has no default, or one above 0 and within its maximum"


@pytest.mark.parametrize(
    ("parameter", "reason"),
    [
        pytest.param(True, NO_NUMBER, id="true"),
        pytest.param({"maximum": 5}, NO_NUMBER, id="no type"),
        pytest.param({"type": "string", "maximum": 5}, NO_NUMBER, id="text"),
        pytest.param({"type": ["integer", "null"], "maximum": 5}, NO_NUMBER, id="a list of types"),
        pytest.param({"type": "integer"}, NO_MAXIMUM, id="no maximum"),
        pytest.param({"type": "integer", "maximum": 86_401}, NO_MAXIMUM, id="more than a day"),
        pytest.param({"type": "number", "maximum": 10**400}, NO_MAXIMUM, id="more than any clock counts"),
        pytest.param({"type": "integer", "maximum": 0}, NO_MAXIMUM, id="no time"),
        pytest.param({"type": "integer", "maximum": 5, "default": "3"}, NO_DEFAULT, id="a default of text"),
        pytest.param({"type": "integer", "maximum": 5, "default": None}, NO_DEFAULT, id="a default of null"),
        pytest.param({"type": "integer", "maximum": 5, "default": 6}, NO_DEFAULT, id="a default above it"),
        pytest.param({"type": "integer", "maximum": 5, "default": 0}, NO_DEFAULT, id="a default of no time"),
    ],
)
def test_a_timeout_parameter_must_be_a_bounded_number(parameter: JsonValue, reason: str) -> None:
    fields = {**MINIMAL, "inputSchema": {"properties": {"t": parameter}}, "timeoutParam": "t"}
    expected = f"Value error, 't' must name a property of inputSchema that {reason}"
    assert places(fields) == [("timeoutParam", expected)]


def test_a_timeout_parameter_must_exist() -> None:
    expected = f"Value error, 't' must name a property of inputSchema that {NO_NUMBER}"
    assert places({**MINIMAL, "timeoutParam": "t"}) == [("timeoutParam", expected)]


@pytest.mark.parametrize(
    ("schema", "properties"),
    [
        pytest.param({}, {}, id="none"),
        pytest.param(
            {"properties": {"b": {"type": "null"}, "a": {}}}, {"b": {"type": "null"}, "a": {}}, id="two"
        ),
        pytest.param({"properties": {"a": True, "b": False}}, {"a": {}, "b": {}}, id="true and false"),
        pytest.param({"properties": []}, {}, id="an array"),
    ],
)
def test_properties_are_given_by_name(schema: JsonSchema, properties: dict[str, JsonSchema]) -> None:
    assert list(schema_properties(schema).items()) == list(properties.items())
