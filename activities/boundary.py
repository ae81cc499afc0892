"""The tool boundary: turns whatever a tool call ended with into what Temporal carries."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.heartbeats import BeatIntervals, beating
from activities.interface import (
    AGENT_UNKNOWN,
    EXCERPT_METADATA,
    EXECUTOR_METADATA,
    LIST_TOOLS,
    SANDBOX_METADATA,
    STARTED_AT_METADATA,
    Capture,
    ToolCallInput,
    ToolList,
    ToolListRequest,
)
from activities.tools.executor import ToolExecutor
from activities.tools.tool_sets import ToolSets
from activities.tools.workspaces import WorkspaceError
from surefoot.artifact import Excerpt
from surefoot.definition import ToolDefinition
from surefoot.failures import Captured, cancelled, interrupted, invalid_params, not_found_on_executor
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import NotStrictJsonError, encode_json, strict_json


class ToolActivities:
    """The tools of one worker as activities: `list_tools`, and one for every other name."""

    def __init__(
        self,
        executor: ToolExecutor,
        *,
        identity: str,
        intervals: BeatIntervals,
        tool_sets: ToolSets | None = None,
    ) -> None:
        """Serve an executor's tools; `tool_sets` tells which of them a run is given, else it is all."""
        self._executor = executor
        self._tool_sets = tool_sets or ToolSets(executor.definitions)
        self._identity = identity
        self._intervals = intervals

    @activity.defn(name=LIST_TOOLS)
    async def list_tools(self, request: ToolListRequest | None = None) -> ToolList:
        """List the definitions of the tools that a run is given, by name; without a request, a plain one.

        Raises:
            ApplicationError: AGENT_UNKNOWN: this worker has no such agent.
        """
        if request is None:
            return await self._listed(self._tool_sets.plain)
        if (tools := self._tool_sets.of_agents.get(request.agent)) is None:
            reason = f"the worker that serves this run has no tools for the agent '{request.agent}'"
            raise ApplicationError(reason, type=AGENT_UNKNOWN, non_retryable=True)
        return await self._listed(tools)

    async def _listed(self, tools: tuple[ToolDefinition, ...]) -> ToolList:
        directory: str | None = None
        # Each call of a run without a directory tells why there is none.
        with suppress(WorkspaceError):
            directory = str(await self._executor.directory_of(activity.info().workflow_id or ""))
        return ToolList(tools=tools, working_directory=directory, sandbox=self._executor.sandbox.level)

    @activity.defn(dynamic=True)
    async def run_tool(self, arguments: Sequence[RawValue]) -> RawValue:
        """Run one call of the tool that the activity's type names.

        Raises:
            ApplicationError: the type is an error code, `details[0]` a `Capture`; it is never retried.
            CancelledError: the run of the call is gone, and so are the call's processes.
        """
        started_at, sandbox = datetime.now(UTC).isoformat(), None
        watched: list[Callable[[], Capture]] = []

        def captured() -> Capture:
            capture = watched[0]() if watched else Capture()
            return capture.model_copy(update={"started_at": started_at, "sandbox": sandbox})

        _never_twice(self._executor)
        call = _read_call(arguments)
        sandbox = self._executor.level(call.tool)
        async with beating(self._intervals, captured):
            try:
                outcome = await _unless_cancelled(self._executor.run(call, watch=watched.append))
            except asyncio.CancelledError:
                failure = _cut_short(call.tool, captured())
                if failure is None:
                    raise
                # `from None`: inside this handler the SDK would report a cancellation instead.
                raise _failed(failure, started_at=started_at, sandbox=sandbox) from None
        match outcome:
            case ToolSuccess():
                return _payload(outcome, started_at, executor=self._identity, sandbox=sandbox)
            case ToolFailure():
                raise _failed(outcome, started_at=started_at, sandbox=sandbox)


async def _unless_cancelled(
    execution: Coroutine[Any, Any, ToolSuccess | ToolFailure],
) -> ToolSuccess | ToolFailure:
    """Let an execution end. A pause leaves it alone: a tool cannot stop and go on, only be run again.

    The SDK tells of one cancellation for each attempt, so that after a pause only the tool's own timeout ends
    it early.
    """
    running = asyncio.create_task(execution)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if not _reason().paused:
            running.cancel()
        return await running


def _cut_short(tool: str, capture: Capture) -> ToolFailure | None:
    """The failure of a call that was stopped; None when nobody is left to be told.

    It is an error, and no cancellation, with which the SDK carries nothing of what was captured.
    """
    reason, captured = _reason(), Captured(capture.stdout, capture.stderr)
    if reason.worker_shutdown:
        return interrupted(tool, captured)
    return cancelled(tool, captured) if reason.cancel_requested or reason.reset else None


def _reason() -> activity.ActivityCancellationDetails:
    return activity.cancellation_details() or activity.ActivityCancellationDetails()


def _read_call(arguments: Sequence[RawValue]) -> ToolCallInput:
    try:
        call = ToolCallInput.model_validate(strict_json(arguments[0].payload.data) if arguments else None)
    except (NotStrictJsonError, ValidationError) as error:
        tool = activity.info().activity_type
        raise _failed(invalid_params(tool, [f"the activity's input is no tool call: {error}"])) from None
    return call.model_copy(update={"tool": activity.info().activity_type})


def _never_twice(executor: ToolExecutor) -> None:
    """Refuse a second attempt: an operator's Unpause starts one in spite of `maximum_attempts=1`."""
    info = activity.info()
    definition = executor.definition(info.activity_type)
    if definition is None:
        raise _failed(not_found_on_executor(info.activity_type))
    if info.attempt == 1 or definition.annotations.idempotent_hint:
        return
    try:
        earlier = Capture.model_validate(info.heartbeat_details[0]) if info.heartbeat_details else Capture()
    except ValidationError:
        earlier = Capture()
    failure = interrupted(info.activity_type, Captured(earlier.stdout, earlier.stderr))
    raise _failed(failure, started_at=earlier.started_at, sandbox=earlier.sandbox)


def _failed(
    failure: ToolFailure, *, started_at: str | None = None, sandbox: str | None = None
) -> ApplicationError:
    return ApplicationError(
        failure.error,
        Capture(
            exit_code=failure.exit_code,
            stdout=failure.stdout,
            stderr=failure.stderr,
            started_at=started_at,
            sandbox=sandbox,
        ),
        type=failure.error_code,
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )


def _payload(outcome: ToolSuccess, started_at: str, *, executor: str, sandbox: str | None) -> RawValue:
    """Carry the answer as plain JSON; who ran it, when and how travels beside it, not in it."""
    metadata = {
        "encoding": b"json/plain",
        STARTED_AT_METADATA: started_at.encode(),
        EXECUTOR_METADATA: executor.encode(),
    }
    if sandbox is not None:
        metadata[SANDBOX_METADATA] = sandbox.encode()
    if isinstance(outcome, Excerpt):
        metadata[EXCERPT_METADATA] = b"true"
    return RawValue(Payload(metadata=metadata, data=encode_json(outcome.result).encode()))
