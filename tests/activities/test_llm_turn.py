import asyncio
import threading
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio import activity, workflow
from temporalio.client import (
    Client,
    Interceptor,
    OutboundInterceptor,
    QueryWorkflowInput,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, RetryState
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.conversation_cache import ConversationCache
from activities.heartbeats import BeatIntervals
from activities.interface import LLM_TURN, LlmTurnInput, LlmTurnResult
from activities.llm_turn import LlmTurns
from activities.model import Model, ModelKeyMissingError, ModelRefusedError, ModelUnavailableError
from surefoot.conversation import AssistantMessage, Conversation, Message, Prefix, ToolCall, UserMessage
from surefoot.run import CONVERSATION_QUERY
from surefoot.usage import Usage
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.workers.real_workers import new_queue, pid_in, until_running, worker_of, worker_opening
from tests.workflows.agents import (
    Replies,
    answer,
    calls,
    events_of,
    messages_of,
    remembering,
    run_agent,
    says,
    serving,
    start,
    tool,
)


class CountedQueries(Interceptor):
    """Counts the conversation queries of a client."""

    def __init__(self) -> None:
        self.count = 0

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002  its name there
        return _Counting(next, self)


class _Counting(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, counted: CountedQueries) -> None:  # noqa: A002
        super().__init__(next)
        self._counted = counted

    async def query_workflow(self, input: QueryWorkflowInput) -> Any:  # noqa: A002, ANN401
        self._counted.count += input.query == CONVERSATION_QUERY
        return await super().query_workflow(input)


class Counted:
    """A client whose queries are counted."""

    def __init__(self, client: Client) -> None:
        self.queries = CountedQueries()
        config = client.config()
        config["interceptors"] = [self.queries]
        self.client = Client(**config)


async def test_a_worker_that_knows_the_conversation_asks_nobody_for_it(
    time_skipping: WorkflowEnvironment,
) -> None:
    counted = Counted(time_skipping.client)
    model = Replies([calls(("look", {})), calls(("look", {})), says("Done.")])

    async with asyncio.timeout(20), serving(counted.client, model, [tool("look", answer)]) as queue:
        run = await start(time_skipping.client, queue)
        await run.result()
        messages = await messages_of(run)

    assert [tuple(given) for given, _ in model.asked] == [messages[:2], messages[:4], messages[:6]]
    assert counted.queries.count == 0


async def test_a_restarted_worker_asks_the_run_once_and_gives_the_model_the_same_conversation(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1")
    model, queue, counted = Replies([calls(("x", {})), says("Done.")]), new_queue(), Counted(client)

    async with asyncio.timeout(30):
        async with worker_of(client, tmp_path, model, queue=queue) as first:
            run = await start(client, queue)
            await pid_in(tmp_path / "pid")
            leaving = asyncio.create_task(first.shutdown())
            (tmp_path / "go").touch()
            await leaving
        async with worker_of(counted.client, tmp_path, model, queue=queue):
            await run.result()
            messages = await messages_of(run)

    assert tuple(model.asked[1][0]) == messages[:4]
    assert counted.queries.count == 1


async def test_a_cache_that_holds_another_continuation_is_not_believed(
    time_skipping: WorkflowEnvironment,
) -> None:
    cache, counted = ConversationCache(), Counted(time_skipping.client)

    async def mislead(_: RawValue) -> JsonValue:
        # As after a reply that never reached the server, so that the turn was taken again.
        other = Conversation().append(*(UserMessage(text=f"another {n}") for n in range(3)))
        cache.keep(activity.info().workflow_id or "", other)

    model = Replies([calls(("x", {})), says("Done.")])
    async with (
        asyncio.timeout(20),
        serving(counted.client, model, [tool("x", mislead)], cache=cache) as queue,
    ):
        run = await start(time_skipping.client, queue)
        await run.result()
        messages = await messages_of(run)

    assert tuple(model.asked[1][0]) == messages[:4]
    assert counted.queries.count == 1


SPOKEN_OF = (UserMessage(text="one"), UserMessage(text="two"))


@workflow.defn(name="speaking")
class Speaking:
    """Asks for a turn over a conversation, and answers with something else when it is asked for it."""

    @workflow.init
    def __init__(self, answers: Any) -> None:  # noqa: ANN401  what a query may answer
        self._answers = answers

    @workflow.run
    async def run(self, _answers: Any) -> None:  # noqa: ANN401
        spoken_of = Conversation().append(*SPOKEN_OF).prefix
        await workflow.execute_activity(
            LLM_TURN,
            LlmTurnInput(
                turn=2,
                model="replies",
                protocol="native",
                prefix=Prefix(length=1, digest="unknown"),
                new_messages=(),
                conversation=spoken_of,
            ),
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10), maximum_attempts=2),
        )

    @workflow.query(name=CONVERSATION_QUERY)
    def conversation(self, _request: Any) -> Any:  # noqa: ANN401
        if self._answers is None:
            raise ValueError("no conversation here")
        return self._answers


def _page(*texts: str) -> dict[str, Any]:
    return {"messages": [UserMessage(text=text).model_dump() for text in texts]}


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        pytest.param(_page(), "the run gave less of its conversation than it spoke of", id="nothing"),
        pytest.param(
            _page("one", "two", "three"),
            "the run gave more of its conversation than it spoke of",
            id="a longer conversation",
        ),
        pytest.param(
            None, "the run did not give its conversation: no conversation here", id="an error of its own"
        ),
        pytest.param(
            {"messages": 7}, "the run did not give its conversation: ", id="something that is no conversation"
        ),
    ],
)
async def test_a_run_that_does_not_give_what_it_spoke_of_is_asked_again(
    client: Client, answers: object, reason: str
) -> None:
    queue = new_queue()
    turns = LlmTurns(
        lambda _turn, _attempt: Replies([]), conversations=remembering(), intervals=BeatIntervals()
    )

    async with (
        asyncio.timeout(20),
        Worker(
            client,
            task_queue=queue,
            workflows=[Speaking],
            activities=[turns.llm_turn],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ),
    ):
        with pytest.raises(WorkflowFailureError) as failed:
            await client.execute_workflow("speaking", answers, id=queue, task_queue=queue)

    ended = failed.value.cause
    assert isinstance(ended, ActivityError)
    assert ended.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED
    assert isinstance(ended.cause, ApplicationError)
    assert (ended.cause.type, ended.cause.non_retryable) == ("CONVERSATION_UNAVAILABLE", False)
    assert ended.cause.message.startswith(reason)


async def test_what_a_run_says_after_a_deploy_counts_though_its_turn_was_scheduled_before(
    client: Client,
) -> None:
    """The deploy changed a fixed text, so that the digest of the turn's input is of the old one."""
    queue, model = new_queue(), Replies([says("Done.")])
    turns = LlmTurns(lambda _turn, _attempt: model, conversations=remembering(), intervals=BeatIntervals())

    async with (
        asyncio.timeout(20),
        Worker(
            client,
            task_queue=queue,
            workflows=[Speaking],
            activities=[turns.llm_turn],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ),
    ):
        await client.execute_workflow("speaking", _page("one", "two, reworded"), id=queue, task_queue=queue)

    assert [message.text for message in model.asked[0][0] if isinstance(message, UserMessage)] == [
        "one",
        "two, reworded",
    ]


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        pytest.param(timedelta(hours=1), timedelta(hours=1), id="as long as the provider asked"),
        pytest.param(None, timedelta(seconds=1), id="the first step of the back-off"),
    ],
)
async def test_a_model_that_is_away_is_asked_again_after_a_pause(
    client: Client, retry_after: timedelta | None, pause: timedelta
) -> None:
    model = Replies([ModelUnavailableError("503: overloaded", retry_after), says("Done.")])

    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue)
        waiting = await until_running(run, lambda one: one.next_attempt_at is not None)
        now = datetime.now(UTC)
        await run.terminate()

    assert waiting.next_attempt_at is not None
    assert pause - timedelta(seconds=1) < waiting.next_attempt_at - now < pause + timedelta(seconds=0.5)
    assert (waiting.attempt, waiting.last_failure) == (2, "503: overloaded")


UNPRINTABLE = "\ud800"


def nested(depth: int) -> JsonValue:
    return {"deeper": nested(depth - 1)} if depth else 1


def _calls(params: JsonValue) -> AssistantMessage:
    return AssistantMessage(tool_calls=(ToolCall(id="1", tool="x", params=params),))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(ModelRefusedError("401: no such key"), "401: no such key", id="a bad key"),
        pytest.param(
            ModelRefusedError(f"400: {UNPRINTABLE}"), "400: \ufffd", id="a reason that UTF-8 cannot carry"
        ),
        pytest.param(ModelRefusedError("x" * 3_000_000), "x" * 1_900, id="a reason of megabytes"),
        pytest.param(
            UnicodeEncodeError("utf-8", UNPRINTABLE, 0, 1, "surrogates not allowed"),
            "the conversation cannot be sent to the model: ",
            id="a conversation that the provider's client cannot encode",
        ),
        pytest.param(
            says(f"a{UNPRINTABLE}"),
            "the model's reply cannot be carried: ",
            id="a lone surrogate in its text",
        ),
        pytest.param(
            _calls(nested(220)), "the model's reply cannot be carried: ", id="params nested 220 deep"
        ),
    ],
)
async def test_what_asking_again_cannot_heal_fails_the_run_at_once(
    client: Client, reply: AssistantMessage | Exception, reason: str
) -> None:
    model = Replies([reply])

    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue)
        with pytest.raises(WorkflowFailureError) as failed:
            await run.result()
        last = (await events_of(run))[-1].model_dump()

    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.message.startswith(reason)
    assert len(failed.value.cause.message) <= 2048
    assert (last["type"], last["status"], last["error"]) == (
        "run_finished",
        "failed",
        failed.value.cause.message,
    )
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "size_bytes",
    [
        pytest.param(1_850_000, id="a reply above the cap"),
        pytest.param(5_000_000, id="a reply that the server would never take"),
    ],
)
async def test_a_model_is_told_of_a_reply_that_is_too_large(client: Client, size_bytes: int) -> None:
    async with asyncio.timeout(20):
        finished = await run_agent(client, [says("x" * size_bytes), says("Done.")])

    told, last = finished.messages[-2:]
    assert isinstance(told, UserMessage)
    assert told.purpose == "correction"
    assert "bytes, above the limit of 1792KB" in told.text
    assert last == says("Done.")


async def test_params_above_their_caps_are_told_to_the_model(client: Client) -> None:
    too_large, large = "x" * 1_100_000, "x" * 800_000
    replies = [
        calls(("x", {"text": too_large})),
        calls(("x", {"text": large}), ("x", {"text": large})),
        says("Done."),
    ]

    async with asyncio.timeout(30):
        finished = await run_agent(client, replies, [tool("x", answer)])

    codes = [getattr(outcome, "error_code", "success") for outcome in finished.outcomes]
    assert codes == ["INPUT_TOO_LARGE", "success", "INPUT_TOO_LARGE"]


async def test_no_message_is_in_the_history_twice(client: Client) -> None:
    async def tell(_: RawValue) -> str:
        return "MARK-ANSWER"

    thinking = calls(("tell", {"about": "MARK-PARAMS"})).model_copy(update={"text": "MARK-REPLY"})
    model = Replies([thinking, calls(("tell", {})), says("MARK-END")])
    async with asyncio.timeout(20), serving(client, model, [tool("tell", tell)]) as queue:
        run = await start(client, queue, prompt="MARK-PROMPT", system="MARK-SYSTEM")
        await run.result()
        history = b"".join([event.SerializeToString() async for event in run.fetch_history_events()])

    marks = ["PROMPT", "SYSTEM", "REPLY", "PARAMS", "ANSWER", "END"]
    assert {mark: history.count(f"MARK-{mark}".encode()) for mark in marks} == {
        "PROMPT": 2,  # the run's input, and the first turn's
        "SYSTEM": 2,
        "REPLY": 1,  # the turn's completion
        "PARAMS": 3,  # the turn's completion, the call's input, and its summary for the timeline
        "ANSWER": 4,  # of each of two calls: its completion, and the next turn's input
        "END": 2,  # the turn's completion, and the run's result
    }


@dataclass
class SlowModel:
    """Thinks until it may speak."""

    may_speak: asyncio.Event = field(default_factory=asyncio.Event)

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        await self.may_speak.wait()
        return LlmTurnResult(reply=says("Done."), usage=Usage(), model_name="slow")


async def test_a_turn_beats_while_its_model_thinks(client: Client, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    model, queue = SlowModel(), new_queue()
    quick = {"heartbeat_throttle": 0.1, "heartbeat_idle_interval": 0.1, "heartbeat_output_interval": 0.1}

    async with asyncio.timeout(20), worker_of(client, tmp_path, model, queue=queue, **quick):
        run = await start(client, queue)
        beats = set[str]()
        while len(beats) < 3:
            beats |= await _last_beat(run)
            await asyncio.sleep(0.02)
        model.may_speak.set()
        result = await run.result()

    assert result.answer == "Done."


async def _last_beat(run: WorkflowHandle[Any, Any]) -> set[str]:
    described = await run.describe()
    return {
        one.last_heartbeat_time.ToJsonString()
        for one in described.raw_description.pending_activities
        if one.activity_type.name == LLM_TURN and one.HasField("last_heartbeat_time")
    }


async def test_a_model_that_takes_long_to_open_keeps_nobody_waiting(client: Client, tmp_path: Path) -> None:
    others_went_on = threading.Event()
    waited: list[bool] = []

    def open_slowly() -> Model:
        waited.append(others_went_on.wait(3))
        return Replies([says("Done.")])

    def open_model(_turn: LlmTurnInput, _attempt: int) -> Awaitable[Model]:
        return asyncio.to_thread(open_slowly)

    (tmp_path / "tools").mkdir()
    queue = new_queue()
    async with asyncio.timeout(20), worker_opening(client, tmp_path, open_model, queue=queue):
        run = await start(client, queue)
        await until_running(run, lambda one: one.activity_type == LLM_TURN and one.started_at is not None)
        others_went_on.set()
        await run.result()

    assert waited == [True]


async def test_a_worker_without_the_models_key_leaves_the_turn_to_one_that_has_it(client: Client) -> None:
    opened = [ModelKeyMissingError("model 'm:m' needs a key: set M_API_KEY"), Replies([says("Done.")])]

    def open_model(_turn: LlmTurnInput, attempt: int) -> Model:
        one = opened[attempt - 1]
        if isinstance(one, Exception):
            raise one
        return one

    turns = LlmTurns(open_model, conversations=remembering(), intervals=BeatIntervals())
    queue = new_queue()
    async with (
        asyncio.timeout(20),
        Worker(
            client,
            task_queue=queue,
            workflows=[Speaking],
            activities=[turns.llm_turn],
            workflow_runner=UnsandboxedWorkflowRunner(),
        ),
    ):
        await client.execute_workflow("speaking", _page("one", "two"), id=queue, task_queue=queue)
