"""Outputs for people, which are not shown what definitions hide of a call, nor what looks like a secret."""

from typing import Unpack

from console.drawing import Drawing
from console.followed_run import FollowedRun
from console.masked_events import MaskedEvents
from console.shown_run import Output
from surefoot.events import (
    ApprovalGiven,
    ApprovalRequested,
    Event,
)
from surefoot.masking import shown_text
from workers.snapshot import Snapshot


def shown_to_people(output: Output, *, reveal: bool = False) -> Output:
    """Give an output that is not shown what definitions hide of a call, nor what looks like a secret."""
    if reveal:
        return _Revealing(output)
    return _DrawsMasked(output, output) if isinstance(output, Drawing) else _Masked(output)


def behind_mask(output: Output) -> Output:
    """Give the output that shows what another one masks; the same where there is no mask."""
    return output.output if isinstance(output, _Masked | _Revealing) else output


class _Masked:
    """Shows what it is given without what is to be hidden."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self._masked = MaskedEvents()

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        if (prompt := run.get("prompt")) is not None:
            run["prompt"] = shown_text(prompt, ())
        self.output.begin(**run)

    def show(self, event: Event) -> None:
        self.output.show(self._masked.event(event))

    def now(self, snapshot: Snapshot) -> None:
        self.output.now(self._masked.snapshot(snapshot))

    def end(self) -> None:
        self.output.end()


class _DrawsMasked(_Masked):
    """The same, of an output that draws."""

    def __init__(self, output: Output, drawing: Drawing) -> None:
        super().__init__(output)
        self._drawing = drawing

    def hold(self) -> None:
        self._drawing.hold()

    def go_on(self) -> None:
        self._drawing.go_on()


class _Revealing:
    """Shows everything, the arguments that a question would hide as well."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.begin, self.now, self.end = output.begin, output.now, output.end

    def show(self, event: Event) -> None:
        asks = isinstance(event, ApprovalRequested | ApprovalGiven)
        self.output.show(event.model_copy(update={"redact": ()}) if asks else event)
