import io
from dataclasses import dataclass, field

from activities.interface import Written
from console.chat_text import ChatText
from console.growing_text import GrowingText
from surefoot.events import Answered, MessageReceived
from tests.console.runs import Terminal, at, replied, running, snapshot, turn
from workers.snapshot import Snapshot


@dataclass
class Told:
    """Notes what is drawn, and when it is taken away."""

    drawn: list[str] = field(default_factory=list[str])

    def show(self, snapshot: Snapshot) -> None:
        self.drawn += [one.written.text for one in snapshot.running if one.written]

    def clear(self) -> None:
        if self.drawn and self.drawn[-1] != "-":
            self.drawn.append("-")


def writes(text: str) -> Snapshot:
    written = Written(text=text, doing="text", characters=len(text))
    return snapshot(running("turn-1", "llm_turn", started_at=at(1), written=written))


def asked(message_id: str) -> MessageReceived:
    return MessageReceived(time=at(0), message_id=message_id, text="Hello")


def chat(told: Told) -> ChatText:
    return ChatText(io.StringIO(), io.StringIO(), own=lambda name: name == "mine", growing=told)


def test_the_reply_to_what_was_typed_is_drawn_until_something_is_printed() -> None:
    told = Told()
    output = chat(told)

    output.show(asked("mine"))
    output.show(turn(1, 1))
    output.now(writes("So"))
    output.now(writes("So far"))
    output.show(replied(1, 2, "So far, so good."))
    output.now(writes("So far"))
    output.show(Answered(time=at(3), turn=1, answer="So far, so good.", answers=("mine",)))
    output.now(writes("So far"))

    assert told.drawn == ["So", "So far", "-"]


def test_nothing_is_drawn_below_somebody_who_types_while_another_is_answered() -> None:
    told = Told()
    output = chat(told)

    output.show(asked("somebody's"))
    output.show(turn(1, 1))
    output.now(writes("So"))

    assert told.drawn == []


def test_what_was_not_said_to_the_end_is_taken_away_when_one_leaves() -> None:
    told = Told()
    output = chat(told)

    output.show(asked("mine"))
    output.show(turn(1, 1))
    output.now(writes("So"))
    output.end()

    assert told.drawn == ["So", "-"]


def test_a_terminal_draws_it_again_and_leaves_nothing_of_it() -> None:
    stream = Terminal()
    growing = GrowingText(stream)

    growing.show(writes("One line"))
    growing.show(writes("One line\nand two"))
    growing.clear()

    shown = stream.getvalue()
    assert shown.count("│ One line") >= 2
    assert shown.count("│ and two") >= 1
    # Up over both lines, each of them erased.
    assert shown.endswith("\r\x1b[1A\x1b[2K\x1b[1A\x1b[2K")
