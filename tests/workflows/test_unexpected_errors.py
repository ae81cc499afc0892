"""What no code of ours expects: it ends a run where trying again cannot help, and waits where it can."""

import asyncio
import builtins
import re
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import jsonschema_rs
import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from surefoot.events import RunFinished
from surefoot.run import WORKFLOW, RunInput, RunResult
from surefoot.usage import Usage
from tests.workers.real_workers import new_queue
from tests.workers.wedging import until_tried
from tests.workflows.agents import Replies, Silent, events_of, finish, says, serving, start, until_event
from tests.workflows.operators import cancel_call
from workers.wedged_runs import find_wedged_runs
from workflows.agent import Agent
from workflows.bugs import BUGS
from workflows.tool_calls import ToolCalls

WAITING = (MemoryError, ImportError, SyntaxError, Warning)
"""What tells that something is wrong with one worker, which another one need not share."""

_NOTHING = RawValue(Payload())

_mistakes: dict[str, Callable[[], BaseException]] = {}
"""What the code of a run raises, by the name of the place where it does."""


def _stumble(place: str) -> None:
    if (mistake := _mistakes.get(place)) is not None:
        raise mistake()


class PanicException(BaseException):
    """What a panic in a Rust library raises."""

    __module__ = "pyo3_runtime"


class MistakenCalls(ToolCalls):
    """Tool calls with mistakes where an operator cancels one."""

    def why_not_cancellable(self, tool_exec_id: str) -> str | None:
        _stumble(f"validator {tool_exec_id}")
        return None

    def cancel(self, tool_exec_id: str) -> None:
        _stumble(f"handler {tool_exec_id}")


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Mistaken(Agent):
    """The agent with mistakes in its code."""

    def __init__(self) -> None:
        super().__init__()
        self._tool_calls = MistakenCalls(
            self._log.record, self._pace, self._sub_agents, self._approvals, self.unheld, self._untrusted
        )

    @workflow.run
    async def run(self, raw_input: RawValue = _NOTHING) -> RunResult:
        return await super().run(raw_input)

    async def _run(self, run: RunInput) -> RunResult:
        _stumble(run.prompt)
        return await super()._run(run)


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Sleeping:
    """Code that begins with a timer where the run had begun with an activity."""

    @workflow.run
    async def run(self, _: RawValue) -> None:
        await workflow.sleep(timedelta(seconds=1))


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Ending:
    """Code that ends where the run had gone on."""

    @workflow.run
    async def run(self, _: RawValue) -> RunResult:
        return RunResult(
            status="completed", answer="", turns=0, tool_executions=0, failed_tool_executions=0, usage=Usage()
        )


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Idle:
    """Code that waits where the run had begun an activity."""

    @workflow.run
    async def run(self, _: RawValue) -> None:
        await workflow.wait_condition(lambda: False)


@asynccontextmanager
async def deciding(client: Client, queue: str, code: type[Any]) -> AsyncGenerator[None]:
    """Have a worker run this code, without the sandbox so that a test can tell it what to do."""
    runner = UnsandboxedWorkflowRunner()
    async with Worker(client, task_queue=queue, workflows=[code], workflow_runner=runner):
        yield


async def begin(client: Client, queue: str, *given: object) -> WorkflowHandle[Any, Any]:
    """Start a run with this input; what fails in it is tried again soon."""
    return await client.start_workflow(
        WORKFLOW,
        args=given,
        id=f"run-{secrets.token_hex(4)}",
        task_queue=queue,
        task_timeout=timedelta(seconds=1),
        result_type=RunResult,
    )


async def reason_of(run: WorkflowHandle[Any, Any]) -> str:
    """Give why a run failed."""
    with pytest.raises(WorkflowFailureError) as failure:
        await run.result()
    assert isinstance(failure.value.cause, ApplicationError)
    return failure.value.cause.message


async def until_listed_as_wedged(client: Client, run: WorkflowHandle[Any, Any]) -> None:
    """Wait until the doctor's look at the open runs shows it."""
    while run.id not in {one.workflow_id for one in (await find_wedged_runs(client)).wedged}:  # noqa: ASYNC110
        await asyncio.sleep(0.1)


BUILT_IN = [
    one
    for one in vars(builtins).values()
    if isinstance(one, type) and issubclass(one, Exception) and one is not Exception
]


@pytest.mark.parametrize("error", BUILT_IN)
def test_every_built_in_exception_either_ends_a_run_or_lets_it_wait(error: type[Exception]) -> None:
    assert issubclass(error, BUGS) != issubclass(error, WAITING)


def test_non_determinism_is_no_mistake_that_ends_a_run() -> None:
    assert not issubclass(workflow.NondeterminismError, BUGS)
    # A family above it would fail every run of a worker with changed code.
    assert not any(issubclass(workflow.NondeterminismError, bug) for bug in BUGS)


MISTAKES: list[tuple[Callable[[], BaseException], str]] = [
    (lambda: ArithmeticError("a"), "ArithmeticError: a"),
    (lambda: AssertionError(), "AssertionError"),
    (lambda: AttributeError("a"), "AttributeError: a"),
    (lambda: BufferError("a"), "BufferError: a"),
    (lambda: EOFError("a"), "EOFError: a"),
    (lambda: ExceptionGroup("a", [NameError("b")]), "ExceptionGroup: a (1 sub-exception)"),
    (lambda: PanicException("a"), "PanicException: a"),
    (lambda: KeyError("a"), "KeyError: 'a'"),
    (lambda: NameError("a"), "NameError: a"),
    (lambda: OSError("a"), "OSError: a"),
    (lambda: ReferenceError("a"), "ReferenceError: a"),
    (lambda: RecursionError("a"), "RecursionError: a"),
    (lambda: StopAsyncIteration("a"), "StopAsyncIteration: a"),
    (lambda: StopIteration("a"), "RuntimeError: coroutine raised StopIteration"),
    (lambda: SystemError("a"), "SystemError: a"),
    (lambda: TypeError("a"), "TypeError: a"),
    (lambda: UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), "UnicodeEncodeError: "),
    (lambda: asyncio.InvalidStateError("a"), "InvalidStateError: a"),
    (lambda: jsonschema_rs.ReferencingError("a"), "ReferencingError: a"),
    (lambda: re.error("a"), "error: a"),
]


async def test_a_mistake_in_our_code_fails_the_run_and_its_ledger_says_why(client: Client) -> None:
    _mistakes.update({f"mistake {n}": mistake for n, (mistake, _) in enumerate(MISTAKES)})
    queue = new_queue()

    async with asyncio.timeout(20), deciding(client, queue, Mistaken):
        runs = [await start(client, queue, prompt=f"mistake {n}") for n in range(len(MISTAKES))]
        reasons = [await reason_of(run) for run in runs]
        last = [(await events_of(run))[-1] for run in runs]

    for (_, expected), reason in zip(MISTAKES, reasons, strict=True):
        assert reason.startswith(f"a bug in Surefoot: {expected}")
    assert [event.error for event in last if isinstance(event, RunFinished)] == reasons


async def test_a_worker_that_is_short_of_memory_only_delays_a_run(client: Client) -> None:
    _mistakes["memory"] = lambda: MemoryError()
    queue = new_queue()

    async with asyncio.timeout(30):
        async with deciding(client, queue, Mistaken):
            run = await begin(client, queue, RunInput(prompt="memory", model="m"))
            await until_tried(run, 2)
        async with serving(client, Replies([says("Done.")]), queue=queue):
            finished = await finish(run)

    assert finished.result.answer == "Done."


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(Sleeping, id="another first step"),
        pytest.param(Ending, id="an early end"),
        pytest.param(Idle, id="a step left out"),
    ],
)
async def test_a_run_that_meets_changed_code_waits_for_the_right_code_and_then_goes_on(
    client: Client, changed: type[Any]
) -> None:
    async with asyncio.timeout(30):
        async with serving(client, Silent()) as queue:
            run = await begin(client, queue, RunInput(prompt="Do it.", model="m"))
            await until_event(run, "turn_started")
        async with deciding(client, queue, changed):
            await run.signal("nudge")
            await until_tried(run, 2)
            await until_listed_as_wedged(client, run)
        async with serving(client, Replies([says("Done.")]), queue=queue):
            finished = await finish(run)

    assert finished.result.answer == "Done."


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param([], "RunInput cannot be read: there is no value", id="none"),
        pytest.param(["Do it."], "RunInput cannot be read: value: Input should be an object", id="text"),
        pytest.param([None], "RunInput cannot be read: ", id="null"),
        pytest.param([{"prompt": "x"}], "RunInput cannot be read: model: Field required", id="no model"),
        pytest.param(
            [{"prompt": "x", "model": "m"}, 2], "Agent.run() takes from 1 to 2 positional arguments", id="two"
        ),
    ],
)
async def test_a_start_with_an_input_that_is_none_fails_with_a_sentence(
    client: Client, given: list[object], reason: str
) -> None:
    async with asyncio.timeout(10), serving(client, Replies([])) as queue:
        assert (await reason_of(await begin(client, queue, *given))).startswith(reason)


@pytest.mark.parametrize("place", ["validator", "handler"])
async def test_a_mistake_in_the_cancel_of_a_call_fails_the_cancel_and_not_the_run(
    client: Client, place: str
) -> None:
    queue, call = new_queue(), secrets.token_hex(4)
    _mistakes[f"{place} {call}"] = lambda: NameError("name 'calls' is not defined")

    async with asyncio.timeout(20), deciding(client, queue, Mistaken):
        run = await start(client, queue)
        with pytest.raises(WorkflowUpdateFailedError) as failure:
            await cancel_call(run, call)
        history = (await run.fetch_history()).events
        await run.terminate()

    assert "name 'calls' is not defined" in str(failure.value.cause)
    assert EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED not in {event.event_type for event in history}
