"""A run turn by turn: what the model said, and what became of the calls that it asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

from console.progress import CallProgress, Progress, advance
from console.steering_text import SteeringEvent, steering_event
from surefoot.events import (
    ApprovalRequested,
    ContextCompacted,
    Event,
    MessageReceived,
    ModelReplied,
    RunFinished,
    TurnStarted,
)
from surefoot.ledger import ToolExecution


@dataclass(frozen=True)
class TurnTold:
    """One turn as it is told; its calls stand in the order the model asked for them."""

    number: int
    """0 is what came before the first turn, and what the model was told in it."""
    text: str
    calls: tuple[CallProgress, ...]
    received: tuple[MessageReceived, ...] = ()
    """What came while it was taken; the model was told of it after the turn."""
    steered: tuple[SteeringEvent, ...] = ()
    """What was done to the run after the model's reply."""


class Transcript:
    """Gathers events into turns; what it holds stays as small as the current one."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.aside: SteeringEvent | None = None
        """What the last event did to the run, where it belongs to no turn."""
        self._reply: ModelReplied | None = None
        self._ended: dict[str, CallProgress] = {}
        self._received: tuple[MessageReceived, ...] = ()
        self._steered: tuple[SteeringEvent, ...] = ()

    def add(self, event: Event) -> TurnTold | None:
        """Add an event; gives the turn before it, if that is complete now."""
        turn = None
        if isinstance(event, ContextCompacted | TurnStarted):
            # What came before the first turn is told in it.
            turn = self.rest() if self.progress.turn == 0 else self._turn()
        elif isinstance(event, RunFinished):
            turn = self.rest()
        self.progress = advance(self.progress, event)
        self._add_steering(steering_event(event))
        if isinstance(event, ModelReplied):
            self._reply = event
        if isinstance(event, MessageReceived):
            self._received += (event,)
        if self.progress.ended is not None:
            self._ended[self.progress.ended.execution.tool_exec_id] = self.progress.ended
        return turn

    def _add_steering(self, event: SteeringEvent | None) -> None:
        self.aside = event if self._reply is None else None
        if event is not None and self._reply is not None:
            self._steered += (event,)

    def rest(self) -> TurnTold | None:
        """Give the current turn as far as it has come, and begin anew; None if there is nothing to tell."""
        turn = self._turn()
        if turn is None and self._received:
            turn = TurnTold(self.progress.turn, "", (), self._received)
            self._received = ()
        return turn

    def _turn(self) -> TurnTold | None:
        reply, self._reply = self._reply, None
        if reply is None:
            return None
        turn = TurnTold(reply.turn, reply.text, tuple(self._calls(reply)), self._received, self._steered)
        self._ended, self._received, self._steered = {}, (), ()
        return turn

    def _calls(self, reply: ModelReplied) -> Iterator[CallProgress]:
        known = {**self.progress.in_flight, **self._ended}
        for number, call in enumerate(reply.tool_calls, start=1):
            name = f"{reply.turn}-{number}"
            waiting = ToolExecution(name, call.id, call.tool, "scheduled")
            about = self.progress.approvals.get(name, ())
            yield known.get(name) or CallProgress(waiting, call.params, about)


def call_status(call: CallProgress) -> str:
    """Print how a call stands: `completed`, `failed`, `running`, or `waiting` and for what."""
    match call.execution.status:
        case "completed" | "failed" as ended:
            return ended
        case "scheduled" | "started":
            if call.approvals and isinstance(call.approvals[-1], ApprovalRequested):
                return "waiting for approval"
            return "waiting" if call.execution.scheduled_at is None else "running"
