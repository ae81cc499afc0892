"""Which of a turn's tool calls are made, and which are answered at once. Nothing is scheduled unchecked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from surefoot.conversation import ToolCall
from surefoot.definition import ToolDefinition
from surefoot.failures import input_too_large, invalid_params, not_found
from surefoot.outcome import ToolFailure
from surefoot.schema import param_problems
from surefoot.sizes import MAX_PARAMS_BYTES, MAX_TURN_INPUTS_BYTES
from surefoot.strict_json import json_bytes


@dataclass(frozen=True)
class Admitted:
    """A call that is made: its params fit the definition and the caps."""

    call: ToolCall
    definition: ToolDefinition
    params: dict[str, JsonValue]
    timeout: timedelta


@dataclass(frozen=True)
class Refused:
    """A call that is not made; the model gets the failure at once."""

    call: ToolCall
    failure: ToolFailure


def admit(calls: Sequence[ToolCall], definitions: Sequence[ToolDefinition]) -> tuple[Admitted | Refused, ...]:
    """Check the calls of one turn, each for itself and all their params together, in the order asked."""
    by_name = {definition.name: definition for definition in definitions}
    decisions: list[Admitted | Refused] = []
    admitted_bytes = 0
    for call in calls:
        decision = _check(call, by_name)
        if isinstance(decision, Admitted):
            size = input_bytes(decision)
            if admitted_bytes + size > MAX_TURN_INPUTS_BYTES:
                decision = Refused(call, _turn_too_large(call, admitted_bytes + size))
            else:
                admitted_bytes += size
        decisions.append(decision)
    return tuple(decisions)


def _check(call: ToolCall, by_name: dict[str, ToolDefinition]) -> Admitted | Refused:
    definition = by_name.get(call.tool)
    if definition is None:
        return Refused(call, not_found(call.tool, sorted(by_name)))
    size = json_bytes(call.params)
    if size > MAX_PARAMS_BYTES:
        failure = input_too_large(call.tool, size_bytes=size, limit_bytes=MAX_PARAMS_BYTES, of="its params")
        return Refused(call, failure)
    found = param_problems(definition.input_schema, call.params)
    if found or not isinstance(call.params, dict):
        return Refused(call, invalid_params(call.tool, found))
    return Admitted(call, definition, call.params, definition.timeout_for(call.params))


def input_bytes(call: Admitted) -> int:
    """What travels with a call: of an agent's also what its run is started with."""
    agent = call.definition.agent
    own = len(agent.model_dump_json().encode()) if agent is not None else 0
    return json_bytes(call.params) + own


def _turn_too_large(call: ToolCall, total_bytes: int) -> ToolFailure:
    return input_too_large(
        call.tool,
        size_bytes=total_bytes,
        limit_bytes=MAX_TURN_INPUTS_BYTES,
        of="its params and those of this turn's calls before it",
    )
