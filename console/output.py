"""Where a followed run is shown: the seam, and which of its implementations a command gets."""

import sys
from enum import StrEnum
from typing import TextIO, Unpack

from console.followed_run import FollowedRun
from console.json_output import JsonOutput
from console.jsonl import JsonlOutput
from console.masked_output import shown_to_people
from console.plain import PlainOutput
from console.shown_run import Output as Output
from surefoot.events import Event
from workers.snapshot import Snapshot


class OutputFormat(StrEnum):
    """What `-o` takes."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"


def choose_output(
    output_format: OutputFormat,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    *,
    reveal: bool = False,
) -> Output:
    """Give the output for a format and for what the streams are connected to: unset, the process's own.

    What people read is masked, unless it is to be revealed; what programs read is as it was.
    """
    out: TextIO = stdout or sys.stdout
    err: TextIO = stderr or sys.stderr
    match output_format:
        case OutputFormat.TEXT:
            return progress_on(err, answer=out, reveal=reveal)
        case OutputFormat.JSON:
            return _Both(progress_on(err, answer=None, reveal=reveal), JsonOutput(out))
        case OutputFormat.JSONL:
            return JsonlOutput(out, err)


def progress_on(
    stream: TextIO, *, answer: TextIO | None, keep_running: bool = False, reveal: bool = False
) -> Output:
    """Give the output that shows people what happens on a stream, and the answer on `answer`.

    With `keep_running` a terminal keeps the picture of what runs when the output is ended.
    """
    if not stream.isatty():
        return shown_to_people(PlainOutput(stream, answer=answer), reveal=reveal)
    # It takes a while to load, and only a terminal needs it.
    from console.live import LiveOutput, is_capable, terminal

    screen = terminal(stream)
    if not is_capable(screen):
        return shown_to_people(PlainOutput(stream, answer=answer), reveal=reveal)
    return shown_to_people(LiveOutput(screen, answer=answer, keep_running=keep_running), reveal=reveal)


class _Both:
    """Two outputs as one."""

    def __init__(self, first: Output, second: Output) -> None:
        self._outputs = (first, second)

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        for output in self._outputs:
            output.begin(**run)

    def show(self, event: Event) -> None:
        for output in self._outputs:
            output.show(event)

    def now(self, snapshot: Snapshot) -> None:
        for output in self._outputs:
            output.now(snapshot)

    def end(self) -> None:
        for output in self._outputs:
            output.end()
