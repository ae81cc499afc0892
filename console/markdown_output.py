"""`-o markdown`: a run as a document that tells everything, the outcomes as the model read them."""

import re
from collections.abc import Iterator
from typing import TextIO, Unpack

from console.approval_text import approval_text
from console.compaction import compaction_text
from console.followed_run import FollowedRun
from console.json_text import escape_controls, json_text
from console.lines import write_line
from console.message import message_from
from console.progress import CallProgress, Progress
from console.safe_text import safe_line, safe_text
from console.steering_text import steering_text
from console.transcript import Transcript, TurnTold, call_status
from console.wording import UNTRUSTED_FROM_HERE, status_text, time_taken, tool_name, totals
from surefoot.events import (
    ContextCompacted,
    Event,
    RunFinished,
)
from surefoot.outcome import envelope
from workers.snapshot import Snapshot


class MarkdownOutput:
    """Writes a run to a stream, a turn at a time."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._transcript = Transcript()
        self._last_text = ""

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Write which run it is, and what was asked."""
        self._write(f"# {safe_line(run['workflow_id'])}", f"With {safe_line(run['model'])}.")
        if run["ui_url"] is not None:
            self._write(f"<{safe_line(run['ui_url'], len(run['ui_url']))}>")
        self._write("## Prompt", safe_text(run.get("prompt", "")).strip())

    def show(self, event: Event) -> None:
        """Write what is complete with this event."""
        self._write_turn(self._transcript.add(event))
        if (steered := self._transcript.aside) is not None:
            self._write(f"*{steering_text(steered)}*")
        if isinstance(event, ContextCompacted):
            self._write(f"*{compaction_text(event)}*")
        if isinstance(event, RunFinished):
            self._write(*_end(event, self._transcript.progress))
            if event.answer and event.answer != self._last_text:
                self._write(safe_text(event.answer).strip())

    def now(self, snapshot: Snapshot) -> None:
        """Nothing: a document tells what has happened."""

    def end(self) -> None:
        """Write the turn that has not ended."""
        self._write_turn(self._transcript.rest())

    def _write_turn(self, turn: TurnTold | None) -> None:
        if turn is None:
            return
        self._last_text = turn.text
        if turn.number:
            self._write(f"## Turn {turn.number}", safe_text(turn.text).strip())
        for call in turn.calls:
            self._write(*_call(call))
            if call.execution.tool_exec_id == self._transcript.progress.untrusted:
                self._write(f"*{UNTRUSTED_FROM_HERE}*")
        for event in turn.steered:
            self._write(f"*{steering_text(event)}*")
        for message in turn.received:
            self._write(f"## Message{message_from(message)}", safe_text(message.text).strip())

    def _write(self, *paragraphs: str) -> None:
        for paragraph in paragraphs:
            if paragraph:
                write_line(self._stream, f"{paragraph}\n")


def _call(call: CallProgress) -> Iterator[str]:
    took = time_taken(call)
    status = call_status(call) + (f" after {took}" if took else "")
    yield f"### {tool_name(call)} ({call.execution.tool_exec_id}): {status}"
    yield _fenced(json_text(call.params))
    yield from (f"*{approval_text(event)}*" for event in call.approvals)
    if call.execution.outcome is not None:
        yield _fenced(escape_controls(envelope(call.execution.outcome)))


def _end(finished: RunFinished, progress: Progress) -> Iterator[str]:
    yield f"## {status_text(finished).capitalize()} after {totals(progress, finished)}"
    if finished.error:
        yield safe_text(finished.error)


def _fenced(json: str) -> str:
    longest = max((len(run) for run in re.findall("`+", json)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}json\n{json}\n{fence}"
