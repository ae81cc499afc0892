
import pytest

from surefoot.outcome import ERROR_CODES, NEVER_ACTED, ErrorCode, ToolFailure, envelope
from surefoot.testing import Environment, FakeTool, call, script

MODEL = script(call("deploy", to="production"), "Done.")

OUTPUT: dict[str, str] = {"stdout": "half of it\n", "stderr": "oh\n"}

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
    output = {} if code in NEVER_ACTED else OUTPUT
    deploy = FakeTool("deploy").fails(code, **output)

    run = await surefoot_environment.run("Deploy it.", model=MODEL, tools=[deploy])

    failure = ToolFailure(
        error=ERRORS[code],
        error_code=code,
        exit_code=EXIT_CODES.get(code),
        stdout=output.get("stdout", ""),
        stderr=output.get("stderr", ""),
    )
    assert run.transcript.told == ["Deploy it.", envelope(failure)]
    assert run.transcript.outcomes("deploy") == [failure]
    assert (run.status, run.answer) == ("completed", "Done.")
