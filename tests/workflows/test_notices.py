"""What people are told of a run, and that telling them never changes it."""

from contextlib import suppress

import pytest
from temporalio.client import Client, WorkflowFailureError

from activities.model import Model, ModelRefusedError
from surefoot.run import RESUME_UPDATE, Resume
from tests.workflows.agents import Replies, Silent, calls, says, start, until_event
from tests.workflows.operators import update
from tests.workflows.people import EVERYTHING, People, Slow, approve_first, telling


def two_looks() -> Replies:
    return Replies([calls(("look", {})), says("Done. The key is sk-ant-0123456789abcdef0123.")])


async def test_people_are_told_of_an_approval_and_of_the_end(client: Client) -> None:
    people = People()
    async with telling(client, two_looks(), people) as queue:
        run = await start(client, queue, notify=EVERYTHING, agent_name="looker")
        await approve_first(run)
        await run.result()

    first = f"{run.id}/{run.first_execution_run_id}"
    waits = {"workflow_id": run.id, "run_id": run.first_execution_run_id, "agent": "looker", "ui_url": None}
    assert sorted((notice.model_dump() for notice in people.told), key=lambda told: told["id"]) == [
        {
            **waits,
            "id": f"{first}/1",
            "what": "approval",
            "status": "waiting",
            "text": "look needs approval (every call of the tool does)",
            "tool_exec_id": "1-1",
        },
        {
            **waits,
            "id": f"{first}/2",
            "what": "ended",
            "status": "completed",
            "text": "Done. The key is [redacted].",
            "tool_exec_id": None,
        },
    ]


async def test_people_are_told_that_a_run_waits_for_its_model(client: Client) -> None:
    people = People()
    model = Replies([ModelRefusedError("401: the key has expired"), says("Done.")])
    async with telling(client, model, people) as queue:
        run = await start(client, queue, notify=("waiting",), on_model_failure="wait")
        await until_event(run, "model_unavailable")
        await update(run, RESUME_UPDATE, Resume())
        await run.result()

    assert [(notice.what, notice.text) for notice in people.told] == [("waiting", "401: the key has expired")]


@pytest.mark.parametrize(
    ("model", "status"),
    [
        pytest.param(Replies([says("Done.")]), "completed", id="it completes"),
        pytest.param(Replies([ModelRefusedError("401")]), "failed", id="it fails"),
        pytest.param(Silent(), "cancelled", id="it is cancelled"),
    ],
)
async def test_people_are_told_of_every_end(client: Client, model: Model, status: str) -> None:
    people = People()
    async with telling(client, model, people) as queue:
        run = await start(client, queue, notify=("ended",))
        if status == "cancelled":
            await until_event(run, "turn_started")
            await run.cancel()
        with suppress(WorkflowFailureError):
            await run.result()
        description = await run.describe()

    assert [notice.status for notice in people.told] == [status]
    assert description.status is not None
    assert description.status.name == {"cancelled": "CANCELED"}.get(status, status.upper())


async def test_a_run_ends_as_it_did_when_nobody_can_be_told(client: Client) -> None:
    people = People(busy=9)
    async with telling(client, Replies([says("Done.")]), people) as queue:
        result = await (await start(client, queue, notify=EVERYTHING)).result()

    assert (result.answer, people.told) == ("Done.", [])


async def test_a_run_that_is_cancelled_while_people_are_told_of_its_end_has_ended(client: Client) -> None:
    people = Slow()
    async with telling(client, Replies([says("Done.")]), people) as queue:
        run = await start(client, queue, notify=("ended",))
        await people.asked.wait()
        await run.cancel()
        people.go_on.set()
        result = await run.result()

    assert (result.answer, [notice.status for notice in people.told]) == ("Done.", ["completed"])


async def test_nobody_is_told_of_what_was_not_asked_for(client: Client) -> None:
    people = People()
    async with telling(client, Replies([says("Done.")]), people) as queue:
        await (await start(client, queue, notify=("approval",))).result()

    assert people.told == []
