import pytest

from surefoot.conversation import ToolCall, UserMessage
from surefoot.inbox import Inbox
from surefoot.run import SendMessage
from surefoot.sizes import MAX_WAITING_MESSAGES
from surefoot.turn import (
    CallModel,
    Finish,
    LimitReached,
    Listen,
    ModelUnreadable,
    RefuseTools,
    RunTools,
    Step,
    Tell,
)

CALL = ToolCall(id="c1", tool="look", params={})
WAITING = Inbox((SendMessage(text="Also this.", sender="Ada"), SendMessage(text="And that.")))
TOLD = (
    UserMessage(text="Also this.", purpose="message"),
    UserMessage(text="And that.", purpose="message"),
)


def tell(purpose: str) -> Tell:
    return Tell(UserMessage.model_validate({"text": "…", "purpose": purpose}))


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(CallModel(), id="the model's next turn"),
        pytest.param(Finish("Done."), id="the end of the run"),
        pytest.param(tell("closing"), id="the model being told to close"),
        pytest.param(ModelUnreadable("no JSON"), id="a failure that the next reply may prevent"),
    ],
)
def test_what_waits_joins_before(step: Step) -> None:
    assert WAITING.before(step) == (Inbox(), TOLD)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(RunTools((CALL,)), id="calls that the model waits for"),
        pytest.param(RefuseTools((CALL,), "limit"), id="calls that come after a limit"),
        pytest.param(tell("correction"), id="a correction"),
        pytest.param(tell("warning"), id="a warning"),
    ],
)
def test_what_waits_goes_on_waiting_before(step: Step) -> None:
    assert WAITING.before(step) == (WAITING, ())


@pytest.mark.parametrize(
    ("step", "why"),
    [
        pytest.param(CallModel(), None, id="not by a turn"),
        pytest.param(Finish("Done."), "the run has ended", id="by an answer"),
        pytest.param(LimitReached("turns", "Done."), "the run has ended", id="by a limit"),
        pytest.param(ModelUnreadable("no JSON"), "the run has ended", id="by a failure"),
        pytest.param(
            tell("closing"),
            "the run is closing: its model was told to answer with what it has",
            id="by the closing text",
        ),
    ],
)
def test_an_inbox_in_which_nothing_waits_is_closed(step: Step, why: str | None) -> None:
    inbox, told = Inbox().before(step)

    assert (inbox.why_not(SendMessage(text="Too late?")), told) == (why, ())


def test_an_inbox_goes_on_saying_why_it_was_closed_at_first() -> None:
    assert Inbox().close("It is full.").close() == Inbox(closed="It is full.")


@pytest.mark.parametrize(
    ("message", "why"),
    [
        pytest.param(SendMessage(text="Look again.", sender="Ada"), None, id="one like any other"),
        pytest.param(SendMessage(text=" \n"), "the message is empty", id="an empty one"),
        pytest.param(
            SendMessage.model_construct(text="a\ud800", sender=None),
            "the message holds bytes that are no UTF-8",
            id="one that no server can carry",
        ),
        pytest.param(
            SendMessage(text="é" * 32_768),
            "the message is 65,538 bytes as JSON, above the limit of 64KB",
            id="one that is too long",
        ),
        pytest.param(
            SendMessage(text="a", sender="x" * 201),
            "the sender's name is longer than 200 characters",
            id="one with a long name",
        ),
    ],
)
def test_a_message_is_refused_in_words(message: SendMessage, why: str | None) -> None:
    assert Inbox().why_not(message) == why


def test_an_inbox_has_room_for_so_many_messages_and_so_many_bytes() -> None:
    many = Inbox((SendMessage(text="a"),) * MAX_WAITING_MESSAGES)
    large = Inbox((SendMessage(text="a" * 60_000),) * 2)

    assert many.why_not(SendMessage(text="b")) == "32 messages wait for the model's next turn already"
    assert (
        large.why_not(SendMessage(text="b" * 12_000))
        == "the messages that wait would be above the limit of 128KB"
    )


def test_an_answer_is_to_the_messages_that_were_told_since_the_answer_before() -> None:
    inbox = Inbox(
        (SendMessage(text="a", message_id="1"), SendMessage(text="b"), SendMessage(text="c", message_id="3"))
    )
    told, _ = inbox.before(CallModel())
    more, _ = told.take(SendMessage(text="d", message_id="4")).before(CallModel())

    assert (told.unanswered, more.unanswered, more.answered().unanswered) == (("1", "3"), ("1", "3", "4"), ())


def test_the_first_message_of_a_session_without_a_prompt_is_its_prompt() -> None:
    assert WAITING.before(Listen())[1] == (
        UserMessage(text="Also this."),
        UserMessage(text="And that.", purpose="message"),
    )
