import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from temporalio.contrib.pydantic import pydantic_data_converter

from surefoot.conversation import ToolCall
from surefoot.events import (
    Event,
    ExecutionError,
    ModelReplied,
    RunFinished,
    RunStarted,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
    TurnStarted,
)
from surefoot.failures import acted, limit_reached, lost
from surefoot.ledger import Ledger, ToolExecution, reduce_event, reduce_events
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import EventsPage
from surefoot.usage import Usage

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
DONE = ToolSuccess(tool="bash", result={"exit_code": 0})
LOST = lost("bash")


def at(seconds: int) -> datetime:
    return NOON + timedelta(seconds=seconds)


def scheduled(exec_id: str = "1-1", *, second: int = 1) -> ToolExecutionScheduled:
    return ToolExecutionScheduled(time=at(second), tool_exec_id=exec_id, call_id="c", tool="bash")


def started(exec_id: str = "1-1", *, second: int = 3) -> ToolExecutionStarted:
    return ToolExecutionStarted(
        time=at(second),
        tool_exec_id=exec_id,
        call_id="c",
        tool="bash",
        started_at=at(2),
        executor="worker-1",
    )


def completed(exec_id: str = "1-1", *, second: int = 4) -> ToolExecutionCompleted:
    return ToolExecutionCompleted(
        time=at(second), tool_exec_id=exec_id, call_id="c", tool="bash", outcome=DONE
    )


def failed(exec_id: str = "1-1", *, second: int = 4, outcome: ToolFailure = LOST) -> ToolExecutionFailed:
    return ToolExecutionFailed(
        time=at(second),
        tool_exec_id=exec_id,
        call_id="c",
        tool="bash",
        outcome=outcome,
        error=ExecutionError(message=outcome.error, code=outcome.error_code),
        acted=acted(outcome),
    )


def finished(*, second: int = 9) -> RunFinished:
    return RunFinished(time=at(second), status="completed", answer="done", usage=Usage())


EVENTS: list[Event] = [
    RunStarted(time=NOON, workflow_id="w", run_id="r"),
    TurnStarted(time=NOON, turn=1),
    ModelReplied(time=at(1), turn=1, text="hm", tool_calls=(ToolCall(id="c", tool="bash", params={}),)),
    scheduled(),
    started(),
    completed(),
    failed("1-2"),
    finished(),
]


@pytest.mark.parametrize(
    ("event", "names"),
    [
        pytest.param(EVENTS[0], ["time", "type", "workflow_id", "run_id"], id="run_started"),
        pytest.param(EVENTS[1], ["time", "type", "turn"], id="turn_started"),
        pytest.param(EVENTS[2], ["time", "type", "turn", "text", "tool_calls"], id="model_replied"),
        pytest.param(
            EVENTS[3], ["time", "tool_exec_id", "call_id", "tool", "type"], id="tool_execution_scheduled"
        ),
        pytest.param(
            EVENTS[4],
            ["time", "tool_exec_id", "call_id", "tool", "type", "started_at", "executor"],
            id="tool_execution_started",
        ),
        pytest.param(
            EVENTS[5],
            ["time", "tool_exec_id", "call_id", "tool", "type", "outcome"],
            id="tool_execution_completed",
        ),
        pytest.param(
            EVENTS[6],
            ["time", "tool_exec_id", "call_id", "tool", "type", "outcome", "error", "acted"],
            id="tool_execution_failed",
        ),
        pytest.param(
            EVENTS[7], ["time", "type", "status", "answer", "output", "error", "usage"], id="run_finished"
        ),
    ],
)
def test_every_event_survives_json_under_its_literal_name(
    event: Event, names: list[str], request: pytest.FixtureRequest
) -> None:
    text = event.model_dump_json()
    assert EVENT.validate_json(text) == event
    assert list(json.loads(text)) == names
    assert request.node.callspec.id == json.loads(text)["type"]


def test_events_survive_the_payload_of_a_page() -> None:
    converter = pydantic_data_converter.payload_converter
    page = EventsPage(events=tuple(EVENTS), next_offset=8, more=False)
    assert converter.from_payload(converter.to_payload(page), EventsPage) == page


def test_a_failed_execution_carries_its_error_in_two_fields_and_its_effect() -> None:
    told = json.loads(failed(outcome=limit_reached("bash", "enough")).model_dump_json())
    assert (told["error"], told["acted"]) == (
        {"message": "Tool 'bash' was not called: enough", "code": "LIMIT_REACHED"},
        "no",
    )


@pytest.mark.parametrize(
    ("events", "execution"),
    [
        pytest.param(
            [scheduled()],
            ToolExecution("1-1", "c", "bash", "scheduled", scheduled_at=at(1)),
            id="scheduled",
        ),
        pytest.param(
            [scheduled(), started()],
            ToolExecution(
                "1-1", "c", "bash", "started", scheduled_at=at(1), started_at=at(2), executor="worker-1"
            ),
            id="started",
        ),
        pytest.param(
            [scheduled(), started(), completed()],
            ToolExecution(
                "1-1",
                "c",
                "bash",
                "completed",
                scheduled_at=at(1),
                started_at=at(2),
                ended_at=at(4),
                executor="worker-1",
                outcome=DONE,
            ),
            id="completed",
        ),
        pytest.param(
            [scheduled(), failed()],
            ToolExecution("1-1", "c", "bash", "failed", scheduled_at=at(1), ended_at=at(4), outcome=LOST),
            id="failed without a start",
        ),
        pytest.param(
            [failed()],
            ToolExecution("1-1", "c", "bash", "failed", ended_at=at(4), outcome=LOST),
            id="refused before it was scheduled",
        ),
        pytest.param(
            [scheduled(), completed(), failed(second=8)],
            ToolExecution("1-1", "c", "bash", "completed", scheduled_at=at(1), ended_at=at(4), outcome=DONE),
            id="failed after it had completed",
        ),
        pytest.param(
            [scheduled(), failed(), completed(second=8)],
            ToolExecution("1-1", "c", "bash", "failed", scheduled_at=at(1), ended_at=at(4), outcome=LOST),
            id="completed after it had failed",
        ),
        pytest.param(
            [completed(), completed(second=8)],
            ToolExecution("1-1", "c", "bash", "completed", ended_at=at(4), outcome=DONE),
            id="completed twice",
        ),
    ],
)
def test_the_events_of_a_call_amount_to_one_execution(events: list[Event], execution: ToolExecution) -> None:
    assert reduce_events(events) == Ledger(executions=(execution,))


def test_a_run_amounts_to_its_turn_its_executions_and_its_end() -> None:
    ledger = reduce_events([*EVENTS[:-1], TurnStarted(time=at(8), turn=2), finished()])
    assert (ledger.turn, [one.status for one in ledger.executions], ledger.failed, ledger.finished) == (
        2,
        ["completed", "failed"],
        1,
        finished(),
    )


def test_a_run_finishes_once() -> None:
    assert reduce_events([finished(), finished(second=20)]).finished == finished()


OF_ONE_CALL = st.sampled_from([[scheduled(), started(), completed()], [scheduled(), started(), failed()]])


@given(events=OF_ONE_CALL.flatmap(st.permutations))
def test_the_order_of_a_calls_events_makes_no_difference(events: list[Event]) -> None:
    in_order = sorted(events, key=lambda event: event.time)
    assert reduce_events(events) == reduce_events(in_order)


Happening = ToolExecutionScheduled | ToolExecutionStarted | ToolExecutionCompleted | ToolExecutionFailed


@st.composite
def happenings(draw: st.DrawFn) -> Happening:
    happen = draw(st.sampled_from([scheduled, started, completed, failed]))
    return happen(draw(st.sampled_from(["1-1", "1-2", "2-1"])), second=draw(st.integers(0, 20)))


MANY = st.lists(happenings())


@given(events=MANY)
def test_every_execution_ends_at_most_once_and_for_good(
    events: list[
        ToolExecutionScheduled | ToolExecutionStarted | ToolExecutionCompleted | ToolExecutionFailed
    ],
) -> None:
    first_endings: dict[str, ToolSuccess | ToolFailure] = {}
    ledger = Ledger()
    for event in events:
        ledger = reduce_event(ledger, event)
        if isinstance(event, ToolExecutionCompleted | ToolExecutionFailed):
            first_endings.setdefault(event.tool_exec_id, event.outcome)
        ended = {one.tool_exec_id: one.outcome for one in ledger.executions if one.outcome}
        assert ended == first_endings
        assert all(
            (one.outcome is None) == (one.status in ("scheduled", "started")) for one in ledger.executions
        )


@given(events=MANY)
def test_what_happens_to_one_call_does_not_depend_on_the_others(
    events: list[
        ToolExecutionScheduled | ToolExecutionStarted | ToolExecutionCompleted | ToolExecutionFailed
    ],
) -> None:
    together = reduce_events(events).executions
    alone = [
        execution
        for exec_id in dict.fromkeys(event.tool_exec_id for event in events)
        for execution in reduce_events(e for e in events if e.tool_exec_id == exec_id).executions
    ]
    assert list(together) == alone


@given(events=MANY, cut=st.integers(0, 20))
def test_a_ledger_can_be_continued_and_is_never_changed(events: list[Happening], cut: int) -> None:
    before = reduce_events(events[:cut])
    kept = reduce_events(events[:cut])
    assert reduce_events(events[cut:], before) == reduce_events(events)
    assert before == kept
