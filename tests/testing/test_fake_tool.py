import json
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from surefoot.outcome import ERROR_CODES, NEVER_ACTED, ErrorCode, ToolFailure, envelope
from surefoot.testing import Environment, FakeTool, call, script

MODEL = script(call("deploy", to="production"), "Done.")

ERRORS = {
    "TOOL_TIMEOUT": "Tool 'deploy' timed out after 30s",
    "TOOL_CRASHED": "Tool 'deploy' crashed with exit code 1",
    "INVALID_OUTPUT": "Tool 'deploy' returned invalid JSON",
    "OUTPUT_TOO_LARGE": "Tool 'deploy' returned an answer of 2,097,152 bytes above the limit of 1MB; "
    "ask for less at once",
    "INPUT_TOO_LARGE": "Tool 'deploy' was not called: its params are 2,097,152 bytes, above the limit of 1MB",
    "TOOL_INVOCATION_TIMEOUT": "Tool 'deploy' was not picked up within 60s on 'deploy': "
    "no executor took it in time",
    "TOOL_LOST": "Tool 'deploy' was lost: its worker stopped answering; it may or may not have taken effect",
    "TOOL_INTERRUPTED": "Tool 'deploy' was interrupted: its worker was shut down before it finished; "
    "it may or may not have taken effect",
    "TOOL_CANCELLED": "Tool 'deploy' was cancelled by an operator",
    "TOOL_DENIED": "Tool 'deploy' was not called, it was not approved: the answer was no",
    "LIMIT_REACHED": "Tool 'deploy' was not called: a limit is reached",
    "TOOL_NOT_FOUND": "Tool 'deploy' is not known to the executor that was asked for it",
    "INVALID_PARAMS": "Tool 'deploy' was not called, its params are invalid: refused",
}

EXIT_CODES = {"TOOL_CRASHED": 1, "INVALID_OUTPUT": 0, "OUTPUT_TOO_LARGE": 0}


@pytest.mark.parametrize("code", sorted(ERROR_CODES))
async def test_a_fake_fails_with_any_code_as_the_model_is_told_of_it(
    surefoot_environment: Environment, code: ErrorCode
) -> None:
    stdout, stderr = ("", "") if code in NEVER_ACTED else ("half of it\n", "oh\n")
    deploy = FakeTool("deploy").fails(code, stdout=stdout, stderr=stderr)

    run = await surefoot_environment.run("Deploy it.", model=MODEL, tools=[deploy])

    failure = ToolFailure(
        error=ERRORS[code],
        error_code=code,
        exit_code=EXIT_CODES.get(code),
        stdout=stdout,
        stderr=stderr,
    )
    assert run.transcript.told == ["Deploy it.", envelope(failure)]
    assert run.transcript.outcomes("deploy") == [failure]
    assert (run.status, run.answer) == ("completed", "Done.")


async def test_a_fake_does_what_it_was_told_call_by_call_and_then_stays(
    surefoot_environment: Environment,
) -> None:
    x = FakeTool("x").answers(1).fails("TOOL_CRASHED", exit_code=139).answers(lambda params: params["n"])
    model = script(call("x", n=1), [call("x", n=2), call("x", n=3)], call("x", n=4), "Done.")

    run = await surefoot_environment.run("Go.", model=model, tools=[x])

    assert str(run.transcript).splitlines() == [
        "user: Go.",
        'model calls x {"n": 1}',
        "x answers 1",
        'model calls x {"n": 2}',
        'model calls x {"n": 3}',
        "x fails with TOOL_CRASHED: Tool 'x' crashed with exit code 139",
        "x answers 3",
        'model calls x {"n": 4}',
        "x answers 4",
        "model: Done.",
        "[completed]",
    ]


async def test_calls_that_end_in_every_way_side_by_side_keep_their_order_and_their_time(
    surefoot_environment: Environment,
) -> None:
    tools = [
        FakeTool("a", timeoutSeconds=40_000).answers("a", after=timedelta(hours=8)),
        FakeTool("b").fails("TOOL_TIMEOUT"),
        FakeTool("c").fails("TOOL_LOST"),
        FakeTool("d").fails("TOOL_INVOCATION_TIMEOUT"),
        FakeTool("e").answers("e"),
        FakeTool("f").fails("TOOL_CANCELLED"),
        FakeTool("g").answers("too late", after=timedelta(minutes=1)),
    ]
    model = script([call(tool) for tool in "abcdefg"], "Done.")

    run = await surefoot_environment.run("Go.", model=model, tools=tools)

    assert run.transcript.error_codes() == [
        None,
        "TOOL_TIMEOUT",
        "TOOL_LOST",
        "TOOL_INVOCATION_TIMEOUT",
        None,
        "TOOL_CANCELLED",
        "TOOL_TIMEOUT",
    ]
    assert timedelta(hours=8) <= run.transcript.took < timedelta(hours=9)


async def test_an_executor_can_leave_and_come_back(surefoot_environment: Environment) -> None:
    gpu = FakeTool("gpu", executorQueue="far-away", pickupTimeoutSeconds=3_600, heartbeatSeconds=30)
    gpu = (
        gpu.answers(1)
        .fails("TOOL_INVOCATION_TIMEOUT")
        .answers(2)
        .fails("TOOL_LOST", stdout="half")
        .answers(3)
    )
    model = script({"call": [{"gpu": {}}], "repeat": 5}, "Done.")

    run = await surefoot_environment.run("Go.", model=model, tools=[gpu])

    assert run.transcript.error_codes() == [None, "TOOL_INVOCATION_TIMEOUT", None, "TOOL_LOST", None]
    assert "'gpu' was not picked up within 3600s on 'far-away'" in run.transcript.told[2]
    assert '"stdout": "half"' in run.transcript.told[4]


async def test_a_call_that_is_refused_leaves_what_was_told_for_the_next(
    surefoot_environment: Environment, tmp_path: Path
) -> None:
    manifest = tmp_path / "send.tool.json"
    schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    manifest.write_text(json.dumps({"name": "send", "description": "Sends.", "inputSchema": schema}))
    send = FakeTool.like(manifest).answers("sent")

    run = await surefoot_environment.run(
        "Go.", model=script(call("send"), call("send", to="you"), "Done."), tools=[send]
    )

    assert run.transcript.error_codes("send") == ["INVALID_PARAMS", None]


def _stumbles(_: dict[str, JsonValue]) -> JsonValue:
    raise KeyError("a")


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        pytest.param(FakeTool("x").answers(_stumbles), "Tool 'x' crashed: KeyError: 'a'", id="it raises"),
        pytest.param(
            FakeTool("x"), "Tool 'x' crashed: nobody told this fake what to do", id="nothing was told"
        ),
        pytest.param(
            FakeTool("x").fails("TOOL_CRASHED", reason="out of ink"),
            "Tool 'x' crashed: out of ink",
            id="a reason",
        ),
    ],
)
async def test_a_fake_crashes_in_the_words_of_an_executor(
    surefoot_environment: Environment, tool: FakeTool, error: str
) -> None:
    run = await surefoot_environment.run("Go.", model=script(call("x"), "Done."), tools=[tool])

    (outcome,) = run.transcript.outcomes()
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error) == ("TOOL_CRASHED", error)


def test_a_fake_cannot_be_told_what_no_call_comes_to() -> None:
    with pytest.raises(
        ValueError, match="a call that ends with TOOL_DENIED was never made, and has no output"
    ):
        FakeTool("x").fails("TOOL_DENIED", stdout="out")
    with pytest.raises(ValueError, match="a call that ends with TOOL_LOST has no exit code of its own"):
        FakeTool("x").fails("TOOL_LOST", exit_code=1)


def test_a_field_that_no_manifest_has_is_refused() -> None:
    with pytest.raises(ValueError, match="timeoutSecond"):
        FakeTool("x", timeoutSecond=3)
