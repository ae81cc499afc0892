import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client

from surefoot.conversation import UserMessage
from surefoot.run import SendMessage
from tests.workers.real_workers import new_queue
from tests.workers.wedging import raising, until_tried
from tests.workflows.agents import Replies, Silent, finish, says, serving, start
from workers.sending import send_message
from workers.updates import UnansweredError, UpdateRefusedError


async def test_what_the_run_refuses_is_said_in_its_words(client: Client) -> None:
    async with asyncio.timeout(20), serving(client, Silent()) as queue:
        run = await start(client, queue)
        with pytest.raises(UpdateRefusedError) as refused:
            await send_message(client, run.id, SendMessage(text=" "))
        await run.terminate()

    assert str(refused.value) == f"the run '{run.id}' does not take the message: the message is empty"


async def test_a_message_that_nobody_took_in_time_may_still_be_told(client: Client) -> None:
    run = await start(client, queue := new_queue())
    with pytest.raises(UnansweredError) as unanswered:
        await send_message(client, run.id, SendMessage(text="Hello?"), patience=timedelta(seconds=0.5))
    async with asyncio.timeout(20), serving(client, Replies([says("Done.")]), queue=queue):
        finished = await finish(run)

    assert str(unanswered.value) == (
        f"no worker answered for the run '{run.id}' within 0.5s; the message may still be taken once "
        "somebody serves it: look before you send it again"
    )
    told = [message.text for message in finished.messages if isinstance(message, UserMessage)]
    assert told == ["Do it.", "Hello?"]


@pytest.mark.slow
async def test_a_run_that_cannot_go_on_takes_nothing_and_says_who_knows_why(client: Client) -> None:
    async with asyncio.timeout(40), raising(client) as run:
        await until_tried(run, 3)
        with pytest.raises(UpdateRefusedError) as refused:
            await send_message(client, run.id, SendMessage(text="Go on."))

    assert str(refused.value) == (
        f"the run '{run.id}' cannot go on for now, and the message was not taken: `surefoot doctor` says why"
    )
