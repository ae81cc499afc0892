"""What reducers make of a run's calls, whatever they do."""

import asyncio
import sys
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from temporalio import workflow

from surefoot import ToolFailed, ToolInvoked, reducer
from surefoot.conversation import ToolCall
from surefoot.events import (
    Event,
    ExecutionError,
    ModelReplied,
    ToolExecutionCompleted,
    ToolExecutionFailed,
)
from surefoot.failures import acted, crashed
from surefoot.outcome import ToolSuccess
from surefoot.reducer import Reduce, Reducer, recorded_reducer
from surefoot.slices import Slice
from workflows.slices import Slices

TIME = datetime(2025, 1, 1, tzinfo=UTC)


def made(name: str, function: Reduce, **said: Any) -> Reducer:  # noqa: ANN401  what `@reducer` takes
    made = recorded_reducer(reducer(name, **said)(function))
    assert made is not None
    return made


def replied(*tools: str) -> ModelReplied:
    calls = tuple(ToolCall(id=f"c{n}", tool=tool, params={"n": n}) for n, tool in enumerate(tools, 1))
    return ModelReplied(time=TIME, turn=1, text="", tool_calls=calls)


def completed(tool: str, n: int = 1) -> ToolExecutionCompleted:
    outcome = ToolSuccess(tool=tool, result={"n": n})
    return ToolExecutionCompleted(
        time=TIME, tool_exec_id=f"1-{n}", call_id=f"c{n}", tool=tool, outcome=outcome
    )


def failed(tool: str, n: int = 1) -> ToolExecutionFailed:
    outcome = crashed(tool, 1)
    error = ExecutionError(message=outcome.error, code=outcome.error_code)
    return ToolExecutionFailed(
        time=TIME,
        tool_exec_id=f"1-{n}",
        call_id=f"c{n}",
        tool=tool,
        outcome=outcome,
        error=error,
        acted=acted(outcome),
    )


def count_by_tool(state: dict[str, int], event: ToolInvoked | ToolFailed) -> dict[str, int]:
    state[event.tool] = state.get(event.tool, 0) + 1
    return state


def names(state: list[str], event: ToolInvoked | ToolFailed) -> list[str]:
    return [*state, f"{type(event).__name__} {event.tool_exec_id} {event.params['n']}"]


def one_more(state: int, _: ToolInvoked) -> int:
    return state + 1


CALLS: list[Event] = [replied("a", "b"), failed("b", 2), completed("a", 1)]


async def test_reducers_are_told_of_the_events_that_they_are_for_as_calls_end() -> None:
    slices = Slices(
        [
            made("failures", count_by_tool, initial={}, on=ToolFailed),
            made("order", names, initial=[]),
            made("calls", one_more, initial=0, on=(ToolInvoked,)),
        ]
    )
    for event in CALLS:
        slices.add(event)

    assert slices.told() == {
        "failures": Slice(state={"b": 1}, events=1),
        "order": Slice(state=["ToolInvoked 1-2 2", "ToolFailed 1-2 2", "ToolInvoked 1-1 1"], events=3),
        "calls": Slice(state=2, events=2),
    }


def gives(state: object) -> Reduce:
    def give(_state: object, _event: object) -> object:
        return state

    return give


def takes_one(state: object) -> object:
    return state


class _UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError("cannot say")


def spoil(state: dict[str, int], _: object) -> object:
    state["spoilt"] = 1
    raise KeyError("spoilt")


def unspeakable(_: object, __: object) -> object:
    raise _UnspeakableError


def leave(_: object, __: object) -> object:
    sys.exit(3)


def cancel(_: object, __: object) -> object:
    raise asyncio.CancelledError


def endless(state: object, _: object) -> object:
    deep: list[object] = [state]
    deep.append(deep)
    return deep


def start_an_activity(_: object, __: object) -> object:
    return workflow.start_activity("bash", "rm -rf /", task_queue="mine").cancel()


def start_a_task(_: object, __: object) -> object:
    return asyncio.get_running_loop().call_soon(print).cancelled()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(spoil, "KeyError: 'spoilt'", id="raises, and has spoilt its state"),
        pytest.param(leave, "SystemExit: 3", id="ends the process"),
        pytest.param(cancel, "CancelledError", id="cancels"),
        pytest.param(
            unspeakable, "tests.workflows.test_slices._UnspeakableError", id="raises what cannot be said"
        ),
        pytest.param(gives({1, 2}), "TypeError: Object of type set is", id="gives no JSON"),
        pytest.param(gives(float("nan")), "ValueError: Out of range float", id="gives NaN"),
        pytest.param(gives("\ud800"), "a lone surrogate in a string", id="gives no text"),
        pytest.param(
            gives("x" * 65_536),
            "ValueError: the state is 65,538 bytes as JSON, above the limit of 64KB",
            id="gives too much",
        ),
        pytest.param(endless, "ValueError: Circular reference detected", id="gives what has no end"),
        pytest.param(cast(Any, takes_one), "TypeError: ", id="takes something else"),
        pytest.param(start_an_activity, "Not in workflow event loop", id="asks Temporal for something"),
        pytest.param(start_a_task, "RuntimeError: ", id="starts a task"),
    ],
)
async def test_a_reducer_that_fails_leaves_its_slice_and_all_else_as_they_were(
    function: Reduce, said: str
) -> None:
    slices = Slices([made("wrong", function, initial={"a": 1}), made("right", count_by_tool, initial={})])
    for event in CALLS:
        slices.add(event)

    wrong = slices.told()["wrong"]
    assert (wrong.state, wrong.events, wrong.errors) == ({"a": 1}, 3, 3)
    assert said in (wrong.last_error or "")
    assert slices.told()["right"] == Slice(state={"a": 1, "b": 2}, events=3)


async def test_all_slices_together_have_a_limit() -> None:
    grow = [made(f"slice-{n}", gives("x" * 60_000)) for n in range(3)]
    slices = Slices(grow)
    slices.add(completed("a"))

    assert [one.errors for one in slices.told().values()] == [0, 0, 1]
    assert (
        slices.told()["slice-2"].last_error
        == "ValueError: the states of all slices would be above the limit of 128KB"
    )


async def test_a_slice_goes_on_in_the_next_run_of_a_chain_also_without_its_reducer() -> None:
    before = Slices([made("gone", count_by_tool, initial={}), made("stays", count_by_tool, initial={})])
    before.add(completed("a"))
    after = Slices([made("new", count_by_tool, initial={"b": 7}), made("stays", count_by_tool, initial={})])
    after.go_on(before.carried())
    after.add(completed("a"))

    assert after.told() == {
        "new": Slice(state={"b": 7, "a": 1}, events=1),
        "stays": Slice(state={"a": 2}, events=2),
        "gone": Slice(state={"a": 1}, events=1),
    }


async def test_slices_whose_reducers_are_gone_are_carried_as_long_as_there_is_room() -> None:
    slices = Slices([made("own", gives("x" * 60_000))])
    slices.go_on({f"gone-{n}": Slice(state="x" * 40_000) for n in range(3)})
    slices.add(completed("a"))

    assert sorted(slices.carried()) == ["gone-0", "gone-1", "gone-2", "own"]
    small = Slices([made("own", count_by_tool, initial="x" * 60_000)])
    small.go_on({f"gone-{n}": Slice(state="x" * 40_000) for n in range(3)})
    assert sorted(small.carried()) == ["gone-0", "own"]
