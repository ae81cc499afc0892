"""`surefoot show` on a pipe or in a file: a run turn by turn, each call on a line with how it ended."""

from collections.abc import Iterator
from typing import TextIO, Unpack

from console.approval_text import approval_text
from console.compaction import compaction_text
from console.followed_run import FollowedRun
from console.lines import write_line
from console.message import message_lines
from console.plain import child_line, ending_line, finished_lines, run_lines
from console.progress import CallProgress
from console.safe_text import safe_text
from console.steering_text import steering_text
from console.transcript import Transcript, TurnTold, call_status
from console.wording import UNTRUSTED_FROM_HERE, answer_preview, call_title, last_lines
from surefoot.events import (
    ContextCompacted,
    Event,
    RunFinished,
)
from surefoot.outcome import ToolFailure, ToolSuccess
from workers.snapshot import Snapshot

_CAPTURED_LINES = 3


class TranscriptText:
    """Writes a run to a stream, a turn at a time; the answer is the text of the last one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._transcript = Transcript()
        self._last_text = ""

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Write which run it is, and what was asked."""
        self._write(run_lines(run))

    def show(self, event: Event) -> None:
        """Write what is complete with this event."""
        self._write_turn(self._transcript.add(event))
        if (steered := self._transcript.aside) is not None:
            self._write(iter([steering_text(steered)]))
        if isinstance(event, ContextCompacted):
            self._write(_indented(compaction_text(event)))
        if isinstance(event, RunFinished):
            if event.answer and event.answer != self._last_text:
                self._write(_indented(event.answer))
            self._write(finished_lines(event, self._transcript.progress))

    def now(self, snapshot: Snapshot) -> None:
        """Nothing: a transcript tells what has happened."""

    def end(self) -> None:
        """Write the turn that has not ended."""
        self._write_turn(self._transcript.rest())

    def _write_turn(self, turn: TurnTold | None) -> None:
        if turn is not None:
            self._last_text = turn.text
            self._write(_turn(turn, self._transcript.progress.untrusted))

    def _write(self, lines: Iterator[str]) -> None:
        for line in lines:
            write_line(self._stream, line)


def _turn(turn: TurnTold, untrusted: str | None) -> Iterator[str]:
    if turn.number:
        yield f"turn {turn.number}"
    yield from _indented(turn.text)
    for call in turn.calls:
        yield from _call(call)
        if call.execution.tool_exec_id == untrusted:
            yield f"    {UNTRUSTED_FROM_HERE}"
    for message in turn.received:
        yield from message_lines(message)
    for event in turn.steered:
        yield steering_text(event)


def _call(call: CallProgress) -> Iterator[str]:
    yield from (f"  {approval_text(event)}" for event in call.approvals)
    yield from _ended(call)
    if call.execution.sandbox == "none":
        yield "    ran without a sandbox"
    if (child_id := call.execution.child_id) is not None:
        yield f"    {child_line(child_id)}"


def _ended(call: CallProgress) -> Iterator[str]:
    match call.execution.outcome:
        case None:
            yield f"  {call_title(call)} -> {call_status(call)}"
        case ToolSuccess() as success:
            yield f"  {ending_line(call)}"
            if preview := answer_preview(success):
                yield f"    {preview}"
        case ToolFailure() as failure:
            yield f"  {ending_line(call)}"
            for line in last_lines(failure.stderr or failure.stdout, _CAPTURED_LINES):
                yield f"    | {line}"


def _indented(text: str) -> Iterator[str]:
    for line in text.strip().split("\n") if text.strip() else ():
        yield f"  {safe_text(line)}"
