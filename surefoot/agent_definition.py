"""An agent as its author writes it: what its runs are started with, and where their tools are."""

from decimal import Decimal
from typing import Annotated

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
)

from surefoot.after_untrusted import AfterUntrusted, RiskClass
from surefoot.amounts import read_dollars, read_period
from surefoot.approval import EVERY_TOOL, Approval, Approvals
from surefoot.definition import RESERVED_NAMES
from surefoot.json_schema import JsonSchema
from surefoot.limits import Count, Limits
from surefoot.output_schema import OutputSchema, prompted_problem
from surefoot.protocol import Protocol
from surefoot.run import OnModelFailure
from surefoot.run_text import ModelName
from surefoot.wire import CamelModel


def _dollars(value: JsonValue) -> Decimal:
    match value:
        case bool() | None | list() | dict():
            raise ValueError("must be an amount of dollars, such as 2.50")
        case int() | float() | str():
            return read_dollars(str(value))


def _seconds(value: JsonValue) -> float:
    match value:
        case bool() | None | list() | dict():
            raise ValueError("must be a time, such as 90s, 30m or 2h")
        case int() | float() | str():
            return read_period(str(value))


def _for_every_tool(value: JsonValue) -> JsonValue:
    return {EVERY_TOOL: value} if isinstance(value, str) else value


def _on_or_off(value: JsonValue) -> JsonValue:
    match value:
        case "on" | "off":
            return value == "on"
        case bool() | None:
            return value
        case _:
            raise ValueError("must be on or off")


def _printable(source: str) -> str:
    # No path of a file holds a zero byte, and one that cannot be printed cannot be told of either.
    if not source.isprintable():
        raise ValueError("holds characters that cannot be printed")
    return source


class _Written(CamelModel):
    """What people write: a field that nobody knows is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_by_name=False, validate_by_alias=True)


class AgentLimits(_Written):
    """What each run of the agent may spend; the defaults are those of every run."""

    max_turns: Count = 50
    max_tool_calls: Count | None = None
    max_input_tokens: Count | None = None
    max_output_tokens: Count | None = None
    max_cost: Annotated[Decimal, BeforeValidator(_dollars)] | None = None
    """In US dollars: `2.50`, `$2.50`."""
    max_time: Annotated[float, BeforeValidator(_seconds)] | None = None
    """`90s`, `30m`, `1h30m`; inside, it is seconds."""
    max_failures_in_a_row: Annotated[int, Field(ge=1, le=1_000_000)] = 5

    def of_a_run(self) -> Limits:
        """Give the limits that a run is started with."""
        return Limits(
            max_turns=self.max_turns,
            max_tool_calls=self.max_tool_calls,
            max_input_tokens=self.max_input_tokens,
            max_output_tokens=self.max_output_tokens,
            max_cost=self.max_cost,
            max_seconds=self.max_time,
            failures_in_a_row=self.max_failures_in_a_row,
        )


class AgentDefinition(_Written):
    """The front matter of an agent file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    """What it is called as a tool of other agents."""
    description: Annotated[str, Field(min_length=1)]
    """What another agent's model reads of it."""
    model: ModelName | None = None
    protocol: Protocol | None = None
    tools: tuple[Annotated[str, Field(min_length=1), AfterValidator(_printable)], ...] = ("builtin",)
    """Sources, as `--tools` takes them."""
    mcp_servers: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """As MCP clients have it under this name."""
    limits: AgentLimits = AgentLimits()
    approval: Annotated[Approvals, BeforeValidator(_for_every_tool)] = Field(
        default_factory=dict[str, Approval]
    )
    """When calls have to be approved, by the name of the tool; `*` is any that is not named, as is one word
    alone."""
    after_untrusted: AfterUntrusted = Field(default_factory=dict[RiskClass, Approval])
    """When calls have to be approved once its run has read untrusted content, by what their tools may do."""
    network: Annotated[bool | None, BeforeValidator(_on_or_off)] = None
    """Whether its tools have the network; unset, each tool as it says itself."""
    on_model_failure: OnModelFailure | None = None
    """What becomes of its runs whose model cannot be asked; called as a tool, it does as its caller."""
    output_schema: OutputSchema | None = None
    """What the final answer of its runs must fit."""

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, name: str) -> str:
        if name in RESERVED_NAMES:
            raise ValueError(f"the name '{name}' is reserved")
        return name

    @field_validator("description")
    @classmethod
    def _says_something(cls, description: str) -> str:
        if not description.strip():
            raise ValueError("is empty")
        return description

    @field_validator("output_schema")
    @classmethod
    def _no_tool_call(cls, schema: JsonSchema | None, definition: ValidationInfo) -> JsonSchema | None:
        if schema is not None and definition.data.get("protocol") == "prompted":
            problem = prompted_problem(schema)
            if problem is not None:
                raise ValueError(f"the output schema is refused: {problem}")
        return schema

    @field_validator("tools", mode="before")
    @classmethod
    def _listed(cls, tools: JsonValue) -> JsonValue | tuple[JsonValue, ...]:
        # A list of JSON; strictly, pydantic takes nothing but a tuple here.
        return tuple(tools) if isinstance(tools, list) else tools
