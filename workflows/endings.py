"""Every way in which a tool activity ends, turned into an outcome. This is the one place."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, CancelledError

from activities.interface import EXCERPT_METADATA, EXECUTOR_METADATA, SANDBOX_METADATA, STARTED_AT_METADATA
from surefoot import failures
from surefoot.admission import Admitted
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.reply import check_answer
from surefoot.sizes import MAX_ANSWER_VALUES
from surefoot.strict_json import NotStrictJsonError, encode_json, most_values_of, surely_more_values_than
from workflows.activity_failures import ending_in_failure
from workflows.ending import Ending, Start, bounded
from workflows.letting_go import let_go
from workflows.pace import Pace
from workflows.payloads import UndecodableError, json_value

CANCEL_GRACE = timedelta(seconds=5)
"""How long a cancelled run waits for an executor to kill what it runs."""


async def ending_of(
    call: Admitted, execution: workflow.ActivityHandle[RawValue], *, queue: str, pace: Pace
) -> Ending:
    """Wait for a tool activity to end, however it ends.

    Raises:
        CancelledError: only when the run itself was cancelled.
    """
    try:
        await workflow.wait([execution])
    except asyncio.CancelledError:
        await let_go(execution, CANCEL_GRACE)
        if workflow.cancellation_reason() is not None:
            raise
    if not execution.done() or execution.cancelled():
        # Its executor did not obey. It had started: the server itself cancels a call that has not.
        return Ending(failures.cancelled(call.definition.name), Start(None, None))
    try:
        raw = await execution
    except (ActivityError, CancelledError) as error:
        return await ending_in_failure(call, error, queue=queue)
    data = _data(raw)
    try:
        await pace.take(data)
    except asyncio.CancelledError:
        # An operator who cancels a call that has just ended comes too late: its answer counts.
        if workflow.cancellation_reason() is not None:
            raise
    outcome = _answered(call, raw)
    values = most_values_of(data) if isinstance(outcome, ToolSuccess) else 0
    return Ending(outcome, _start_in(raw), answer_bytes=len(data), answer_values=values)


def _answered(call: Admitted, raw: RawValue | None) -> ToolSuccess | ToolFailure:
    tool = call.definition.name
    data = _data(raw)
    # To parse a mebibyte of nothing but brackets takes about as long as a workflow task may.
    if surely_more_values_than(MAX_ANSWER_VALUES, data):
        return failures.too_many_values(tool, bounded(call, stdout=_head(call, data)), exit_code=None)
    try:
        answer = json_value(raw)
    except (UndecodableError, NotStrictJsonError) as error:
        return failures.undecodable(tool, str(error), bounded(call, stdout=_head(call, data)))
    whole = raw is None or EXCERPT_METADATA not in raw.payload.metadata
    schema = call.definition.output_schema if whole else None
    return check_answer(
        tool,
        answer,
        captured=lambda: bounded(call, stdout=encode_json(answer)),
        output_schema=schema,
        exit_code=None,
    )


def _start_in(raw: RawValue | None) -> Start:
    if raw is None:
        return Start(None, None)
    metadata = raw.payload.metadata
    started_at = metadata.get(STARTED_AT_METADATA, b"").decode("utf-8", "replace")
    executor = metadata.get(EXECUTOR_METADATA, b"").decode("utf-8", "replace")
    sandbox = metadata.get(SANDBOX_METADATA, b"").decode("utf-8", "replace")
    return Start(started_at or None, executor or None, sandbox=sandbox or None)


def _data(raw: RawValue | None) -> bytes:
    return raw.payload.data if raw is not None else b""


def _head(call: Admitted, data: bytes) -> str:
    return data[: call.definition.limits.stdout * 2].decode("utf-8", "replace")
