"""`surefoot show -o json`: how a run stands and all its turns, as one JSON object."""

from typing import TextIO, Unpack

from pydantic import JsonValue

from console.followed_run import FollowedRun
from console.json_output import standing
from console.json_text import json_text
from console.jsonl import event_object
from console.lines import write_line
from console.progress import CallProgress
from console.steering_text import steering_event
from console.transcript import Transcript, TurnTold, call_status
from surefoot.events import ApprovalEvent, Event
from workers.snapshot import Snapshot


class TranscriptJson:
    """Writes one object when it is ended: that of `surefoot run -o json`, and the turns."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self._names: dict[str, JsonValue] = {}
        self._transcript = Transcript()
        self._turns: list[JsonValue] = []
        self._steering: list[JsonValue] = []

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Take note of how the run is named, and of what was asked."""
        self._names = {
            "workflow_id": run["workflow_id"],
            "run_id": run["run_id"],
            "ui_url": run["ui_url"],
            "model": run["model"],
            "prompt": run.get("prompt", ""),
        }

    def show(self, event: Event) -> None:
        """Add one event."""
        self._add(self._transcript.add(event))
        if (steered := steering_event(event)) is not None:
            self._steering.append(event_object(steered, ui_url=None))

    def now(self, snapshot: Snapshot) -> None:
        """Nothing: what a run is doing is told by its last turn."""

    def end(self) -> None:
        """Write the object."""
        self._add(self._transcript.rest())
        self._names |= standing(self._transcript.progress)
        write_line(
            self._stdout, json_text({**self._names, "transcript": self._turns, "steering": self._steering})
        )

    def _add(self, turn: TurnTold | None) -> None:
        if turn is not None:
            calls: list[JsonValue] = [_call(call) for call in turn.calls]
            received: list[JsonValue] = [
                {"text": message.text, "sender": message.sender} for message in turn.received
            ]
            self._turns.append(
                {"turn": turn.number, "text": turn.text, "tool_calls": calls, "messages_received": received}
            )


def _call(call: CallProgress) -> dict[str, JsonValue]:
    execution = call.execution
    return {
        "tool_exec_id": execution.tool_exec_id,
        "call_id": execution.call_id,
        "tool": execution.tool,
        "params": call.params,
        "status": call_status(call),
        "outcome": execution.outcome.model_dump(mode="json") if execution.outcome else None,
        **({"approvals": [_approval(event) for event in call.approvals]} if call.approvals else {}),
        **({"child_id": execution.child_id} if execution.child_id else {}),
        **({"untrusted": True} if execution.untrusted else {}),
        **({"sandbox": execution.sandbox} if execution.sandbox else {}),
    }


def _approval(event: ApprovalEvent) -> dict[str, JsonValue]:
    return event.model_dump(mode="json", exclude={"tool_exec_id", "call_id", "tool"})
