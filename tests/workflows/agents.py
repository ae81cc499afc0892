"""An agent for tests: a model that says what it is told, and fake tools."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.compaction import Compaction
from activities.conversation_cache import ConversationCache
from activities.conversations import Conversations
from activities.heartbeats import BeatIntervals
from activities.interface import LIST_TOOLS, LlmTurnInput, LlmTurnResult, ToolList, ToolListRequest
from activities.llm_turn import LlmTurns
from activities.model import Model
from activities.queues import QueueActivities
from activities.store.bucket import memory_store
from activities.store.store import Store
from surefoot.conversation import AssistantMessage, Message, ToolCall, ToolMessage
from surefoot.definition import ToolDefinition
from surefoot.events import Event
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import (
    CONVERSATION_QUERY,
    EVENTS_QUERY,
    WORKFLOW,
    ConversationPage,
    ConversationRequest,
    EventsPage,
    RunInput,
    RunResult,
)
from surefoot.usage import Usage
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent

Act = Callable[[RawValue], Awaitable[Any]]


@dataclass(frozen=True)
class FakeTool:
    """A tool whose activity is a coroutine of the test."""

    definition: ToolDefinition
    act: Act


def calls(*wanted: tuple[str, JsonValue]) -> AssistantMessage:
    named = (ToolCall(id=f"c{n}", tool=tool, params=params) for n, (tool, params) in enumerate(wanted, 1))
    return AssistantMessage(tool_calls=tuple(named))


def says(text: str) -> AssistantMessage:
    return AssistantMessage(text=text)


def tool(name: str, act: Act, **more: object) -> FakeTool:
    fields = {"description": f"The tool {name}.", "inputSchema": {"type": "object"}}
    return FakeTool(ToolDefinition.model_validate({"name": name, **fields, **more}), act)


@dataclass
class Replies:
    """A model that gives these replies one after the other; an exception among them is raised."""

    replies: Sequence[AssistantMessage | Exception]
    asked: list[tuple[Sequence[Message], bool]] = field(default_factory=list[Any])

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        reply = self.replies[len(self.asked)]
        self.asked.append((messages, closing))
        if isinstance(reply, Exception):
            raise reply
        return LlmTurnResult(
            reply=reply, usage=Usage(requests=1, input_tokens=10, output_tokens=2), model_name="replies"
        )


class Silent:
    """A model that never replies."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        return await asyncio.Future[LlmTurnResult]()


@dataclass
class FakeTools:
    """The activities of fake tools, and of those that the runs of each agent are given."""

    tools: Sequence[FakeTool]
    of_agents: Mapping[str, Sequence[FakeTool]] = field(default_factory=dict[str, Sequence[FakeTool]])

    @activity.defn(name=LIST_TOOLS)
    async def list_tools(self, request: ToolListRequest | None = None) -> ToolList:
        tools = self.tools if request is None else self.of_agents[request.agent]
        return ToolList(tools=tuple(fake.definition for fake in tools))

    @activity.defn(dynamic=True)
    async def run_tool(self, arguments: Sequence[RawValue]) -> Any:  # noqa: ANN401  also what is no JSON
        every = [*self.tools, *chain.from_iterable(self.of_agents.values())]
        by_name = {fake.definition.name: fake.act for fake in every}
        name = activity.info().activity_type
        if name not in by_name:
            raise ApplicationError(
                f"Activity function {name} is not registered on this worker", type="NotFoundError"
            )
        return await by_name[name](arguments[0])


@dataclass(frozen=True)
class Finished:
    """A run that has ended, as it can be seen from outside."""

    result: RunResult
    events: tuple[Event, ...]
    messages: tuple[Message, ...]

    @property
    def outcomes(self) -> list[ToolSuccess | ToolFailure]:
        return [message.outcome for message in self.messages if isinstance(message, ToolMessage)]


def remembering(cache: ConversationCache | None = None, store: Store | None = None) -> Conversations:
    """Give conversations as a worker remembers them, with a store of their own if none is named."""
    return Conversations(cache or ConversationCache(), store or memory_store())


@asynccontextmanager
async def serving(
    client: Client,
    model: Model,
    tools: Sequence[FakeTool] = (),
    *,
    cache: ConversationCache | None = None,
    store: Store | None = None,
    queue: str | None = None,
    models: Mapping[str, Model] = MappingProxyType({}),
    of_agents: Mapping[str, Sequence[FakeTool]] = MappingProxyType({}),
) -> AsyncGenerator[str]:
    """Serve an agent with this model and these tools, on a queue of its own if none is named; gives it.

    `models` are others by their names, and `of_agents` the tools of agents by their keys.
    """
    queue = queue or f"queue-{secrets.token_hex(4)}"
    kept = remembering(cache, store)

    def open_model(turn: LlmTurnInput, _attempt: int) -> Model:
        return models.get(turn.model, model)

    turns = LlmTurns(open_model, conversations=kept, intervals=BeatIntervals())
    compaction = Compaction(open_model, conversations=kept, intervals=BeatIntervals())
    fakes = FakeTools(tools, of_agents)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Agent],
        activities=[
            turns.llm_turn,
            compaction.compact_context,
            kept.keep_conversation,
            fakes.list_tools,
            fakes.run_tool,
            QueueActivities(client).describe_queue,
        ],
        workflow_runner=workflow_sandbox(),
    ):
        yield queue


async def start(client: Client, queue: str, **run: object) -> WorkflowHandle[Any, RunResult]:
    fields = {"prompt": "Do it.", "model": "replies", **run}
    return await client.start_workflow(
        WORKFLOW,
        RunInput.model_validate(fields),
        id=f"run-{secrets.token_hex(4)}",
        task_queue=queue,
        result_type=RunResult,
    )


async def finish(handle: WorkflowHandle[Any, RunResult]) -> Finished:
    result = await handle.result()
    return Finished(result, await events_of(handle), await messages_of(handle))


async def run_agent(
    client: Client,
    replies: Sequence[AssistantMessage | Exception],
    tools: Sequence[FakeTool] = (),
    **run: object,
) -> Finished:
    """Run an agent to its result, on a queue of its own."""
    async with serving(client, Replies(replies), tools) as queue:
        return await finish(await start(client, queue, **run))


async def events_of(handle: WorkflowHandle[Any, Any]) -> tuple[Event, ...]:
    """Give the ledger of a run; of one that continued as new, only that of the newest run of its chain."""
    events: list[Event] = []
    page = await handle.query(EVENTS_QUERY, 0, result_type=EventsPage)
    if page.first_offset:
        page = await handle.query(EVENTS_QUERY, page.first_offset, result_type=EventsPage)
    events += page.events
    while page.more:
        page = await handle.query(EVENTS_QUERY, page.next_offset, result_type=EventsPage)
        events += page.events
    return tuple(events)


async def messages_of(handle: WorkflowHandle[Any, Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    while True:
        request = ConversationRequest(start=len(messages), end=len(messages) + 1_000)
        page = await handle.query(CONVERSATION_QUERY, request, result_type=ConversationPage)
        if not page.messages:
            return tuple(messages)
        messages += page.messages


async def answer(_: RawValue) -> JsonValue:
    """A fake tool that works."""
    return {"ok": True}


async def never(_: RawValue) -> JsonValue:
    """A fake tool that never answers, and is never heard of."""
    await asyncio.Event().wait()
    return None


async def until_event(handle: WorkflowHandle[Any, Any], kind: str) -> None:
    """Wait until the run's ledger holds an event of this type."""
    while kind not in {event.type for event in await events_of(handle)}:  # noqa: ASYNC110  another process
        await asyncio.sleep(0.01)


async def until_history_holds(handle: WorkflowHandle[Any, Any], *kinds: "EventType.ValueType") -> None:
    """Wait until the run's history, which needs no worker to be read, holds one of these events."""
    async with asyncio.timeout(20):
        while not {e.event_type for e in (await handle.fetch_history()).events} & set(kinds):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
