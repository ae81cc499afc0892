"""Which tool calls somebody has to approve before they are made."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, JsonValue

from surefoot.json_schema import JsonSchema
from surefoot.outside import outside_path
from surefoot.schema import SchemaRefusedError, check_schema, problems
from surefoot.sizes import MAX_APPROVALS_BYTES, count
from surefoot.strict_json import json_bytes
from surefoot.wire import CamelModel

ApprovalWord = Literal["never", "always", "destructive", "outside-workdir", "first-use"]

EVERY_TOOL = "*"
"""In rules by the names of tools, any tool that is not named."""

_WORDS = ", ".join(get_args(ApprovalWord))


class ApprovalWhen(CamelModel):
    """A call needs approval when its params fit a JSON Schema."""

    model_config = ConfigDict(extra="forbid")

    when: JsonSchema


def _in_one_of_its_forms(value: JsonValue | ApprovalWhen) -> JsonValue | ApprovalWhen:
    match value:
        case ApprovalWhen():
            return value
        case {"when": dict() as schema} if len(value) == 1:
            _check(schema)
            return value
        case str() if value in get_args(ApprovalWord):
            return value
        case _:
            raise ValueError(f'must be {_WORDS}, or {{"when": a JSON Schema of the params}}')


def _check(schema: JsonSchema) -> None:
    try:
        check_schema(schema)
    except SchemaRefusedError as error:
        raise ValueError(f"the schema is refused: {error}") from None


Approval = Annotated[ApprovalWord | ApprovalWhen, BeforeValidator(_in_one_of_its_forms)]
"""When the calls of a tool need approval."""


def approvals_size_problem(rules: Mapping[str, Approval]) -> str | None:
    """Say what is wrong with rules that are too large to travel; None if they are not."""
    size = json_bytes(approvals_json(rules))
    if size <= MAX_APPROVALS_BYTES:
        return None
    return f"all rules are {size:,} bytes, above the limit of {count(MAX_APPROVALS_BYTES)}"


def _within_their_size(rules: dict[str, Approval]) -> dict[str, Approval]:
    if (problem := approvals_size_problem(rules)) is not None:
        raise ValueError(problem)
    return rules


_ToolName = Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9_-]{1,64})$")]

Approvals = Annotated[dict[_ToolName, Approval], AfterValidator(_within_their_size)]
"""When calls need approval, by the name of the tool; `*` is any tool that is not named."""


def ruling(tool: str, own: Approval, *rules: Mapping[str, Approval]) -> Approval:
    """Give what holds for a tool: the last of the rules that speak of it, else what its definition says."""
    for one in reversed(rules):
        found = one.get(tool) or one.get(EVERY_TOOL)
        if found is not None:
            return found
    return own


def unknown_tools(rules: Mapping[str, Approval], tools: Collection[str]) -> Sequence[str]:
    """Name the tools that rules speak of, and that are not among these."""
    return sorted(name for name in rules if name != EVERY_TOOL and name not in tools)


def why_to_ask(
    approval: Approval,
    params: Mapping[str, JsonValue],
    *,
    destructive: bool | None,
    directory: str | None,
) -> str | None:
    """Say in a phrase why a call needs approval; None if it does not.

    `destructive` is what the tool says of itself, and None, where it says nothing, never asks. `directory` is
    where the tool runs; while nobody knows that, every absolute path is outside of it. Of `first-use` the
    caller knows whether a call was approved before.
    """
    match approval:
        case "never":
            return None
        case "always":
            return "every call of the tool does"
        case "destructive":
            return "the tool says that it may destroy" if destructive else None
        case "outside-workdir":
            path = outside_path(params, directory)
            return None if path is None else f"it names a path outside of the working directory: {path}"
        case "first-use":
            return "no call of the tool was approved in this run"
        case ApprovalWhen(when=schema):
            return None if problems(schema, dict(params)) else "its arguments fit the rule of the tool"


def approval_json(approval: Approval) -> JsonValue:
    """Give a rule as people write it."""
    return approval if isinstance(approval, str) else {"when": approval.when}


def approvals_json(rules: Mapping[str, Approval]) -> dict[str, JsonValue]:
    """Give rules as people write them."""
    return {name: approval_json(rule) for name, rule in rules.items()}


def approval_text(approval: Approval) -> str:
    """Name a rule in a word."""
    return approval if isinstance(approval, str) else "when"
