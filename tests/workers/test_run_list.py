import asyncio
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError

from tests.workflows.agents import Replies, Silent, answer, calls, says, serving, start, tool, until_event
from tests.workflows.operators import pause, resume
from workers.cancelling import cancel_run
from workers.run_list import ListedRun, NotListableError, Wanted, list_runs, query_for
from workers.search_attributes import Settable, register_search_attributes
from workers.updates import UnansweredError, UpdateRefusedError

RUNS = "WorkflowType = 'surefoot' AND ExecutionStatus != 'ContinuedAsNew'"


@pytest.mark.parametrize(
    ("wanted", "settable", "query"),
    [
        pytest.param(Wanted(), Settable(), RUNS, id="all"),
        pytest.param(
            Wanted("paused", "fixer", True),
            Settable(usual=True),
            f"{RUNS} AND ExecutionStatus = 'Running' AND SurefootStatus = 'paused' "
            "AND SurefootAgent = 'fixer' AND SurefootFailures > 0",
            id="by everything that a run tells",
        ),
        pytest.param(
            Wanted(error_code="TOOL_LOST", since=datetime(2027, 1, 31, 7, tzinfo=UTC)),
            Settable(usual=True, error_codes=True),
            f"{RUNS} AND SurefootErrorCodes = 'TOOL_LOST' AND StartTime >= '2027-01-31T07:00:00+00:00'",
            id="by any code, and when it began",
        ),
        pytest.param(
            Wanted("failed"),
            Settable(),
            f"{RUNS} AND ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')",
            id="by what the server knows itself",
        ),
    ],
)
def test_the_server_is_asked_for_what_is_wanted(wanted: Wanted, query: str, *, settable: Settable) -> None:
    assert query_for(wanted, settable=settable) == query


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        pytest.param(Wanted("waiting"), "the status waiting", id="a status that only a run knows"),
        pytest.param(Wanted(agent="fixer"), "agents", id="an agent"),
        pytest.param(Wanted(failed=True), "failures", id="failures"),
        pytest.param(Wanted(error_code="TOOL_LOST"), "error codes", id="error codes"),
    ],
)
def test_a_server_without_search_attributes_cannot_look_for_them(wanted: Wanted, what: str) -> None:
    with pytest.raises(NotListableError) as refused:
        query_for(wanted, settable=Settable())

    assert str(refused.value) == (
        f"this server cannot look for {what}: its namespace does not have Surefoot's search attributes"
    )


async def listed(client: Client, wanted: Wanted, count: int) -> dict[str, ListedRun]:
    """The runs that are wanted, once there are so many: the server's list lags behind."""
    while True:
        runs = await list_runs(client, wanted)
        if len(runs) == count:
            return {run.workflow_id: run for run in runs}
        await asyncio.sleep(0.05)


async def test_runs_are_listed_as_they_stand(client: Client) -> None:
    await register_search_attributes(client)
    agent = f"agent-{secrets.token_hex(4)}"
    model = Replies([calls(("nothing", {})), calls(("look", {})), says("Done.")])
    told: dict[str, Any] = {"agent_name": agent, "search_attributes": True, "error_codes_attribute": True}
    async with (
        asyncio.timeout(40),
        serving(client, model, [tool("look", answer)]) as queue,
        serving(client, Silent()) as silent,
    ):
        chained = await start(client, queue, chain={"max_events": 1}, **told)
        await chained.result()
        held = await start(client, silent, prompt="Wait for me.", **told)
        gone = await start(client, silent, **told)
        await until_event(held, "turn_started")
        await pause(held)
        await gone.terminate()
        paused = await listed(client, Wanted("paused", agent), 1)
        failed = await listed(client, Wanted(agent=agent, failed=True), 1)
        since = datetime.now(UTC) - timedelta(minutes=5)
        by_code = await listed(client, Wanted(agent=agent, error_code="TOOL_NOT_FOUND", since=since), 1)
        runs = await listed(client, Wanted(agent=agent), 3)
        await resume(held)
        await held.terminate()

    assert list(paused) == [held.id]
    assert {name: run.status for name, run in runs.items()} == {
        chained.id: "completed",
        held.id: "paused",
        gone.id: "failed",
    }
    assert [(run.agent, run.turns, run.failures, run.last_error_code) for run in failed.values()] == [
        (agent, 3, 1, "TOOL_NOT_FOUND")
    ]
    assert [(run.workflow_id, run.error_codes) for run in by_code.values()] == [
        (chained.id, ("TOOL_NOT_FOUND",))
    ]


async def test_a_run_that_nobody_serves_is_asked_to_stop(client: Client) -> None:
    run = await start(client, "nobody-serves-this-run")
    with pytest.raises(UnansweredError) as unanswered:
        await cancel_run(client, run.id, patience=timedelta(seconds=0.3))
    async with asyncio.timeout(20), serving(client, Silent(), queue="nobody-serves-this-run"):
        with pytest.raises(WorkflowFailureError):
            await run.result()
        with pytest.raises(UpdateRefusedError) as refused:
            await cancel_run(client, run.id)

    assert str(unanswered.value) == (
        f"the run '{run.id}' was asked to stop, and has not ended within 0.3s; it does once what runs in it "
        "has been stopped, or once somebody serves it"
    )
    assert str(refused.value) == f"the run '{run.id}' has ended, and cannot be cancelled"
