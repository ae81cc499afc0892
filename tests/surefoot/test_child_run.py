from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from surefoot.admission import Admitted
from surefoot.child_run import child_id, child_run
from surefoot.conversation import ToolCall
from surefoot.definition import ToolDefinition
from surefoot.limits import Limits
from surefoot.outcome import ToolFailure
from surefoot.run import ChainLimits, ModelPatience, RunInput
from surefoot.sub_agent import SubAgent
from surefoot.untrusted import UntrustedSource

CALLER = RunInput(
    prompt="p",
    model="m",
    protocol="prompted",
    system="Coordinate.",
    model_patience=ModelPatience(total_seconds=9),
    chain=ChainLimits(max_updates=3),
    model_queue="models",
    notify=("approval", "ended"),
)
LIMITS = Limits(max_turns=4)


def call(prompt: JsonValue = "Look.") -> Admitted:
    definition = ToolDefinition.model_validate({"name": "x", "description": "d", "inputSchema": {}})
    params = {"prompt": prompt}
    return Admitted(ToolCall(id="c", tool="x", params=params), definition, params, timedelta(0))


@pytest.mark.parametrize(
    ("agent", "given"),
    [
        pytest.param({}, {"model": "m", "protocol": "prompted"}, id="what it does not say is its caller's"),
        pytest.param(
            {"model": "n", "protocol": "native", "system": "Review.", "output_schema": {"type": "array"}},
            {"model": "n", "protocol": "native", "system": "Review.", "output_schema": {"type": "array"}},
            id="what it says is its own",
        ),
        pytest.param(
            {"model": "m", "after_untrusted": {"write": "destructive"}, "network": True},
            {
                "model": "m",
                "protocol": "prompted",
                "after_untrusted": {"write": "destructive"},
                "network": True,
            },
            id="its own rules on untrusted content, and its network",
        ),
    ],
)
def test_a_child_is_started_with_what_its_agent_says_and_its_caller_has(
    agent: dict[str, Any], given: dict[str, Any]
) -> None:
    run = child_run(CALLER, call(), SubAgent(key="k", **agent), LIMITS, workflow_id="run/1-1")

    assert run == RunInput(
        prompt="Look.",
        limits=LIMITS,
        model_patience=CALLER.model_patience,
        chain=CALLER.chain,
        model_queue="models",
        notify=("approval",),
        agent="k",
        agent_name="x",
        tells_parent=True,
        search_attributes=CALLER.search_attributes,
        **given,
    )


@pytest.mark.parametrize(
    ("prompt", "agent", "workflow_id", "code", "error"),
    [
        pytest.param(
            " ",
            {},
            "run/1-1",
            "INVALID_PARAMS",
            "Tool 'x' was not called, its params are invalid: prompt: the prompt is empty",
            id="a blank prompt",
        ),
        pytest.param(
            None,
            {},
            "run/1-1",
            "INVALID_PARAMS",
            "Tool 'x' was not called, its params are invalid: prompt: Input should be a valid string",
            id="a prompt that is no text",
        ),
        pytest.param(
            "p",
            {},
            child_id("é" * 500, "1-1"),
            "TOOL_CRASHED",
            "Tool 'x' could not be started: the id of its run would have 1,004 bytes, and 1,000 is the limit",
            id="an id that the server does not take",
        ),
        pytest.param(
            "p",
            {"output_schema": {"properties": {"tool_calls": {}}}},
            "run/1-1",
            "TOOL_CRASHED",
            None,
            id="a schema that the caller's protocol cannot tell from calls",
        ),
    ],
)
def test_what_cannot_be_started_is_a_failure(
    prompt: JsonValue, agent: dict[str, Any], workflow_id: str, code: str, error: str | None
) -> None:
    failure = child_run(CALLER, call(prompt), SubAgent(key="k", **agent), LIMITS, workflow_id=workflow_id)

    assert isinstance(failure, ToolFailure)
    assert (failure.error_code, failure.error) == (code, error or failure.error)


@pytest.mark.parametrize(
    ("caller", "agent", "child"),
    [
        pytest.param(False, True, False, id="off of the caller wins"),
        pytest.param(True, False, False, id="off of its own wins"),
        pytest.param(True, None, None, id="on is not passed on"),
        pytest.param(None, True, True, id="on is its own"),
        pytest.param(None, None, None, id="nobody says"),
    ],
)
def test_a_child_has_the_network_that_its_agent_says_unless_its_caller_has_none(
    caller: bool | None, agent: bool | None, child: bool | None
) -> None:
    calling = CALLER.model_copy(update={"network": caller})
    run = child_run(calling, call(), SubAgent(key="k", network=agent), LIMITS, workflow_id="run/1-1")
    assert isinstance(run, RunInput)
    assert run.network is child


def test_a_child_inherits_what_its_caller_has_read_and_the_rules_for_it() -> None:
    calling = CALLER.model_copy(update={"after_untrusted": {"write": "always"}})
    read = UntrustedSource(tool="fetch", tool_exec_id="3-1")
    agent = SubAgent(key="k", after_untrusted={"write": "never", "network": "always"})
    run = child_run(calling, call(), agent, LIMITS, workflow_id="run/3-2", untrusted=read)
    assert isinstance(run, RunInput)
    assert run.after_untrusted == {"write": "always", "network": "always"}
    assert run.untrusted == UntrustedSource(tool="fetch", tool_exec_id="3-1", of_caller=True)
