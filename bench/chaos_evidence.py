"""What is left of a run when all is over: what its conversation, ledger and history say."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle, WorkflowHistory
from temporalio.service import RPCError
from temporalio.worker import Replayer

from surefoot.conversation import Message, ToolMessage
from surefoot.events import (
    Event,
    ToolExecutionCompleted,
    ToolExecutionFailed,
)
from surefoot.outcome import Acted, ToolFailure, ToolSuccess
from surefoot.run import (
    CONVERSATION_QUERY,
    EVENTS_QUERY,
    ConversationPage,
    ConversationRequest,
    EventsPage,
)
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent
from workflows.converter import DATA_CONVERTER

QUERY_TRIES = 5
QUERY_TIMEOUT = timedelta(seconds=10)
PAGE = 1_000


@dataclass(frozen=True)
class Told:
    """What the model was told of one call."""

    call: str
    """`<workflow_id>/<tool_exec_id>`, as the tool knew it."""
    outcome: ToolSuccess | ToolFailure
    acted: Acted | None
    """What the ledger says of a failed call."""
    times: int
    """How often the conversation holds this outcome for the call."""


@dataclass(frozen=True)
class Evidence:
    """All that one run left."""

    workflow_id: str
    status: str
    told: tuple[Told, ...] = ()
    replay_problem: str | None = None


async def collect(client: Client, workflow_id: str, status: str) -> Evidence:
    """Ask a run, which a worker must serve, for all it knows, and replay its history.

    Raises:
        RPCError: neither server nor worker answered.
    """
    handle = client.get_workflow_handle(workflow_id)
    events, messages = await _events(handle), await _messages(handle)
    problem = await _replay_problem(await handle.fetch_history())
    return Evidence(workflow_id, status, _told(workflow_id, events, messages), problem)


def _told(workflow_id: str, events: Sequence[Event], messages: Sequence[Message]) -> tuple[Told, ...]:
    spoken = Counter(
        (message.call_id, message.outcome.model_dump_json())
        for message in messages
        if isinstance(message, ToolMessage)
    )
    return tuple(
        Told(
            call=f"{workflow_id}/{event.tool_exec_id}",
            outcome=event.outcome,
            acted=event.acted if isinstance(event, ToolExecutionFailed) else None,
            times=spoken[event.call_id, event.outcome.model_dump_json()],
        )
        for event in events
        if isinstance(event, ToolExecutionCompleted | ToolExecutionFailed)
    )


async def _replay_problem(history: WorkflowHistory) -> str | None:
    replayer = Replayer(workflows=[Agent], workflow_runner=workflow_sandbox(), data_converter=DATA_CONVERTER)
    replayed = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return None if replayed.replay_failure is None else str(replayed.replay_failure)


async def _events(run: WorkflowHandle[Any, Any]) -> list[Event]:
    events: list[Event] = []
    more = True
    while more:
        page: EventsPage = await _ask(run, EVENTS_QUERY, len(events), EventsPage)
        events += page.events
        more = page.more
    return events


async def _messages(run: WorkflowHandle[Any, Any]) -> list[Message]:
    messages: list[Message] = []
    while True:
        request = ConversationRequest(start=len(messages), end=len(messages) + PAGE)
        page: ConversationPage = await _ask(run, CONVERSATION_QUERY, request, ConversationPage)
        if not page.messages:
            return messages
        messages += page.messages


async def _ask(run: WorkflowHandle[Any, Any], query: str, argument: object, answer: type[Any]) -> Any:  # noqa: ANN401  one of two pages
    for _ in range(QUERY_TRIES - 1):
        try:
            return await run.query(query, argument, result_type=answer, rpc_timeout=QUERY_TIMEOUT)
        except RPCError:
            continue
    return await run.query(query, argument, result_type=answer, rpc_timeout=QUERY_TIMEOUT)
