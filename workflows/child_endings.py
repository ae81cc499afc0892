"""Every way in which an agent's run ends, turned into what the call of it came to."""

import asyncio
from dataclasses import dataclass

from pydantic import ValidationError
from temporalio.common import RawValue
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    FailureError,
    TerminatedError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
    WorkflowAlreadyStartedError,
)

from surefoot import failures
from surefoot.admission import Admitted
from surefoot.agent_answer import agent_answer
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import RunResult
from surefoot.sizes import MAX_ANSWER_VALUES
from surefoot.spent import NOTHING_USED, Used
from surefoot.strict_json import NotStrictJsonError, surely_more_values_than
from workflows.payloads import UndecodableError, json_value


class UnreadableResultError(ValueError):
    """Says in one phrase why what a run gave back is no result of a run."""


def not_begun(call: Admitted, error: BaseException, *, run: str) -> ToolFailure:
    """Tell why no run was started for a call."""
    tool = call.definition.name
    match error:
        case WorkflowAlreadyStartedError():
            return failures.not_started(tool, None, f"a run with the id '{run}' has not ended")
        case CancelledError() | asyncio.CancelledError():
            return failures.cancelled(tool)
        case _:
            return failures.not_started(tool, None, str(error))


@dataclass(frozen=True)
class ChildEnding:
    """What a run came to, and what it says of itself."""

    outcome: ToolSuccess | ToolFailure
    used: Used | None = None
    """None where it could not say."""
    untrusted: bool = False
    """Whether it has read untrusted content, so that the outcome may be made of it."""


def failed(call: Admitted, error: FailureError) -> ChildEnding:
    """Tell what became of a run without a result."""
    tool = call.definition.name
    match error.__cause__ if isinstance(error, ChildWorkflowError) else error:
        case ApplicationError() as cause:
            failure = failures.raised(tool, f"its run failed: {cause.message}")
            return ChildEnding(failure, _used(cause), untrusted=len(cause.details) > 1)
        case CancelledError():
            return ChildEnding(failures.cancelled(tool))
        case TerminatedError():
            return ChildEnding(failures.lost(tool, why="its run was terminated"))
        case TimeoutError():
            return ChildEnding(failures.lost(tool, why="its run was timed out by the server"))
        case cause:
            return ChildEnding(failures.raised(tool, f"its run failed: {cause}"))


def answered(call: Admitted, raw: RawValue | None, *, run: str) -> ChildEnding:
    """Tell what a run answered; what cannot be read may be anybody's."""
    tool = call.definition.name
    # To parse a mebibyte of nothing but brackets takes about as long as a workflow task may.
    if raw is not None and surely_more_values_than(MAX_ANSWER_VALUES, raw.payload.data):
        failure = failures.too_many_values(tool, failures.NOTHING, exit_code=None)
        return ChildEnding(failure, NOTHING_USED, untrusted=True)
    try:
        result = _result(raw)
    except UnreadableResultError as error:
        return ChildEnding(failures.undecodable(tool, str(error)), NOTHING_USED, untrusted=True)
    outcome = agent_answer(
        tool,
        result,
        output=call.definition.agent is not None and call.definition.agent.output_schema is not None,
        limit_bytes=call.definition.limits.result,
        run=run,
    )
    used = Used(tool_calls=result.tool_calls, usage=result.usage)
    return ChildEnding(outcome, used, untrusted=result.untrusted)


def _result(raw: RawValue | None) -> RunResult:
    try:
        return RunResult.model_validate(json_value(raw))
    except (UndecodableError, NotStrictJsonError) as error:
        raise UnreadableResultError(str(error)) from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(step) for step in first["loc"]) or "value"
        raise UnreadableResultError(f"it is no result of a run: {field}: {first['msg']}") from None


def _used(cause: ApplicationError) -> Used | None:
    try:
        return Used.model_validate(cause.details[0]) if cause.details else None
    except ValidationError:
        return None
