"""What the model sees of a tool, and how its calls are run."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, TypeGuard, cast

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from surefoot.approval import Approval
from surefoot.json_schema import JsonSchema
from surefoot.param_path import ANY_NAME, read_path
from surefoot.resource_limits import DEFAULT_RESOURCES, ResourceLimits, are_default
from surefoot.schema import SchemaRefusedError, check_schema
from surefoot.secret_reference import SecretName
from surefoot.sizes import MAX_ANSWER_BYTES
from surefoot.sub_agent import SubAgent
from surefoot.wire import CamelModel, is_empty, is_none

RESERVED_NAMES: frozenset[str] = frozenset(
    {
        "llm_turn",
        "list_tools",
        "describe_queue",
        "keep_conversation",
        "compact_context",
        "notify_people",
        "surefoot",
    }
)
"""Names that already mean something in a history."""

TIMEOUT_PARAM_MARGIN = timedelta(seconds=5)
"""How much later than the call's own limit the runtime's comes, so that the tool answers first."""

MAX_TIMEOUT_SECONDS = 86_400

DEFAULT_HEARTBEAT_SECONDS = 15.0


class ToolAnnotations(CamelModel):
    """Hints about a tool's effects, with MCP's meaning; None where the author said nothing."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


# The server takes a timeout of zero for none at all.
_Timeout = Annotated[float, Field(ge=0.001, le=MAX_TIMEOUT_SECONDS)]


# JSON needs six bytes for one control character: the two of these must fit a payload of the server, escaped.
_CaptureLimit = Annotated[int, Field(ge=128, le=64 * 1024)]


class CaptureLimits(CamelModel):
    """How many bytes of a tool's output the model is given."""

    stdout: _CaptureLimit = 10_240
    """Of what was captured around a failure; at most 64 KiB."""
    stderr: _CaptureLimit = 4_096
    """Of what was captured around a failure; at most 64 KiB."""
    result: Annotated[int, Field(ge=1_024, le=MAX_ANSWER_BYTES)] = 102_400
    """Of a valid answer, as JSON; the whole of a larger one is kept as an artifact."""


def _default_heartbeat(fields: dict[str, object]) -> float | None:
    return None if fields.get("executor_queue") else DEFAULT_HEARTBEAT_SECONDS


def _from_list(value: object) -> object:
    # A manifest is read strictly, and JSON has no tuples.
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


_Paths = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_from_list)]
_SecretNames = Annotated[tuple[SecretName, ...], BeforeValidator(_from_list)]
_Variables = dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str]


class ToolDefinition(CamelModel):
    """A tool as the model and the workflow know it; durations in seconds, sizes in bytes."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: Annotated[str, Field(min_length=1)]
    usage: str | None = None
    input_schema: JsonSchema
    output_schema: JsonSchema | None = None
    annotations: ToolAnnotations = ToolAnnotations()
    timeout_seconds: _Timeout = 30
    timeout_param: str | None = None
    limits: CaptureLimits = CaptureLimits()
    exclusive: bool = False
    resources: ResourceLimits = Field(default=DEFAULT_RESOURCES, exclude_if=are_default)
    """What a call may use of the machine that it runs on, where that is a worker of ours."""
    executor_queue: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    pickup_timeout_seconds: _Timeout = 60
    heartbeat_seconds: Annotated[float, Field(ge=1, le=3_600)] | None = Field(
        default_factory=_default_heartbeat
    )
    approval: Approval = "never"
    """When a call has to be approved before it is made."""
    approval_timeout_seconds: _Timeout | None = Field(default=None, exclude_if=is_none)
    """How long a call waits for that before it is denied; None is what the run says, or for ever."""
    # Left out where there is none, so that what other tools write into histories stays as it was.
    agent: SubAgent | None = Field(default=None, exclude_if=is_none)
    """What makes the tool an agent of its own: a call of it is a run, and no activity."""
    redact: _Paths = Field(default=(), exclude_if=is_empty)
    """The parameters that people are not shown, by their names, `options.key` for one within another."""
    secrets: _SecretNames = Field(default=(), exclude_if=is_empty)
    """The secrets that a call's params may refer to, as `secret://NAME`."""

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, name: str) -> str:
        if name in RESERVED_NAMES:
            raise ValueError(f"the name '{name}' is reserved")
        return name

    @field_validator("input_schema", "output_schema")
    @classmethod
    def _checkable(cls, schema: JsonSchema | None) -> JsonSchema | None:
        if schema is not None:
            try:
                check_schema(schema)
            except SchemaRefusedError as error:
                raise ValueError(f"the schema is refused: {error}") from None
        return schema

    @field_validator("input_schema")
    @classmethod
    def _takes_an_object(cls, schema: JsonSchema) -> JsonSchema:
        if schema.get("type", "object") != "object":
            raise ValueError("the params of a tool are an object: 'type' must be 'object'")
        return schema

    @field_validator("timeout_param")
    @classmethod
    def _names_a_timeout(cls, name: str | None, definition: ValidationInfo) -> str | None:
        if name is not None and "input_schema" in definition.data:
            parameter = schema_properties(definition.data["input_schema"]).get(name, {})
            reason = _why_no_timeout(parameter)
            if reason is not None:
                raise ValueError(f"'{name}' must name a property of inputSchema that {reason}")
        return name

    @field_validator("redact")
    @classmethod
    def _names_parameters(cls, paths: tuple[str, ...], definition: ValidationInfo) -> tuple[str, ...]:
        known = schema_properties(definition.data.get("input_schema", {}))
        for path in paths:
            # A name that is misspelled would show what is to be hidden.
            if known and read_path(path)[0] not in (*known, ANY_NAME):
                raise ValueError(f"'{path}' must begin with the name of a property of inputSchema")
        return paths

    @property
    def properties(self) -> dict[str, JsonSchema]:
        """The parameters' schemas by name, in the order of the manifest."""
        return schema_properties(self.input_schema)

    def timeout_for(self, params: Mapping[str, JsonValue]) -> timedelta:
        """Tell how long a call with these params may run before the runtime kills it."""
        if self.timeout_param is None:
            return timedelta(seconds=self.timeout_seconds)
        default = self.properties[self.timeout_param].get("default")
        asked = params.get(self.timeout_param, default)
        limit = asked if _is_number(asked) else self.timeout_seconds
        return timedelta(seconds=min(max(limit, 0), MAX_TIMEOUT_SECONDS)) + TIMEOUT_PARAM_MARGIN

    @property
    def pickup_timeout(self) -> timedelta:
        """How long a call waits for an executor."""
        return timedelta(seconds=self.pickup_timeout_seconds)

    @property
    def heartbeat_timeout(self) -> timedelta | None:
        """How long an executor may be silent before it counts as dead; None = no heartbeat is expected."""
        return None if self.heartbeat_seconds is None else timedelta(seconds=self.heartbeat_seconds)


class Manifest(ToolDefinition):
    """A definition as its author writes it in `<tool>.tool.json`: a field that nobody knows is an error."""

    model_config = ConfigDict(extra="forbid")

    environment: _Variables = Field(default_factory=dict, exclude_if=is_empty)
    """More variables for the executable, which may hold `secret://NAME`; they stay with its worker."""

    @field_validator("environment")
    @classmethod
    def _are_its_own(cls, variables: dict[str, str]) -> dict[str, str]:
        for name in variables:
            if name.startswith("SUREFOOT_"):
                raise ValueError(f"'{name}' is a variable that the runtime sets")
        return variables

    @field_validator("agent")
    @classmethod
    def _is_no_agent(cls, agent: SubAgent | None) -> SubAgent | None:
        if agent is not None:
            raise ValueError("an agent is no executable: offer its file, NAME.md, as a tool")
        return agent

    def definition(self) -> ToolDefinition:
        """Give the definition that travels."""
        return ToolDefinition.model_validate(self.model_dump(by_alias=True))


def schema_properties(schema: Mapping[str, JsonValue]) -> dict[str, JsonSchema]:
    """Give an object schema's properties by name; a property that is not a schema object counts as empty."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: value if isinstance(value, dict) else {} for name, value in properties.items()}


def _why_no_timeout(parameter: JsonSchema) -> str | None:
    default, maximum = parameter.get("default"), parameter.get("maximum")
    if parameter.get("type") not in ("integer", "number"):
        return "is an integer or a number"
    if not _is_number(maximum) or not 0 < maximum <= MAX_TIMEOUT_SECONDS:
        return f"has a maximum, of at most {MAX_TIMEOUT_SECONDS:,} seconds"
    if "default" in parameter and not (_is_number(default) and 0 < default <= maximum):
        return "has no default, or one above 0 and within its maximum"
    return None


def _is_number(value: JsonValue) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
