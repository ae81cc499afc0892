from rich.console import Group

from console.live_lines import happened_lines
from console.plain import event_lines
from console.progress import Progress, advance
from surefoot.events import MessageReceived
from tests.console.runs import at, screen

MESSAGE = MessageReceived(time=at(2), text="Look in /srv, too.\n\x1b[2JNow.", sender="Ada")
LINES = ["message received from Ada", "> Look in /srv, too.", "> ␛[2JNow."]


def test_a_message_is_told_when_it_comes_and_controls_no_terminal() -> None:
    before = Progress()
    after = advance(before, MESSAGE)
    terminal = screen(width=120)
    with terminal.capture() as capture:
        terminal.print(Group(*happened_lines(MESSAGE, before=before, after=after, width=120)))

    assert list(event_lines(MESSAGE, before=before, after=after)) == LINES
    assert capture.get() == "".join(f"  {line}\n" for line in LINES)


def test_a_message_without_a_sender_is_told_without_one() -> None:
    message = MESSAGE.model_copy(update={"sender": None})

    assert [*event_lines(message, before=Progress(), after=Progress())] == ["message received", *LINES[1:]]
