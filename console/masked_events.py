"""Events and output of a run as people are shown them: without what is hidden, or looks like a secret."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from activities.interface import Capture
from surefoot.conversation import ToolCall
from surefoot.events import (
    ApprovalGiven,
    Event,
    MessageReceived,
    ModelReplied,
    RunFinished,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
)
from surefoot.masking import masked, masked_texts, shown_text, shown_value
from workers.snapshot import RunningActivity, Snapshot


class MaskedEvents:
    """Masks one run's events, in their order; the answer stays as it is."""

    def __init__(self) -> None:
        self._redact: Mapping[str, tuple[str, ...]] = {}
        self._hidden: dict[str, tuple[str, ...]] = {}
        """What is not shown of the current turn's calls, by call id."""
        self._calls: dict[str, str] = {}
        """The call ids of what was scheduled, by tool_exec_id."""

    def event(self, event: Event) -> Event:
        """Give an event as it is shown."""
        match event:
            case ModelReplied():
                return self._reply(event)
            case ToolExecutionScheduled():
                self._calls[event.tool_exec_id] = event.call_id
                return event
            case ToolExecutionCompleted() | ToolExecutionFailed():
                return self._ending(event)
            case ApprovalGiven(params=dict() as params):
                self._hidden[event.call_id] = masked_texts(params, event.redact)
                return event.model_copy(update={"params": shown_value(masked(params, event.redact))})
            case MessageReceived(text=text):
                return event.model_copy(update={"text": shown_text(text, ())})
            case RunFinished(error=str(error)):
                return event.model_copy(update={"error": shown_text(error, ())})
            case _:
                return event

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Give what runs at this moment as it is shown."""
        return replace(snapshot, running=tuple(self._running(snapshot.running)))

    def _reply(self, reply: ModelReplied) -> ModelReplied:
        self._redact, self._calls = reply.redact, {}
        self._hidden = {call.id: masked_texts(call.params, self._paths(call)) for call in reply.tool_calls}
        # Without calls it is the answer.
        text = shown_text(reply.text, ()) if reply.tool_calls else reply.text
        calls = tuple(
            call.model_copy(update={"params": shown_value(masked(call.params, self._paths(call)))})
            for call in reply.tool_calls
        )
        return reply.model_copy(update={"text": text, "tool_calls": calls})

    def _ending(
        self, event: ToolExecutionCompleted | ToolExecutionFailed
    ) -> ToolExecutionCompleted | ToolExecutionFailed:
        hidden = self._hidden.get(event.call_id, ())
        match event:
            case ToolExecutionCompleted(outcome=success):
                result = shown_value(success.result, hidden)
                return event.model_copy(update={"outcome": success.model_copy(update={"result": result})})
            case ToolExecutionFailed(outcome=failure, error=error):
                texts = {"error": failure.error, "stdout": failure.stdout, "stderr": failure.stderr}
                shown = {name: shown_text(text, hidden) for name, text in texts.items()}
                message = shown_text(error.message, hidden)
                return event.model_copy(
                    update={
                        "outcome": failure.model_copy(update=shown),
                        "error": error.model_copy(update={"message": message}),
                    }
                )

    def _paths(self, call: ToolCall) -> tuple[str, ...]:
        return self._redact.get(call.tool, ())

    def _running(self, running: tuple[RunningActivity, ...]) -> Iterator[RunningActivity]:
        for one in running:
            hidden = self._hidden.get(self._calls.get(one.activity_id, ""), ())
            captured = one.captured and _capture(one.captured, hidden)
            written = one.written and one.written.model_copy(
                update={"text": shown_text(one.written.text, ())}
            )
            yield replace(one, captured=captured, written=written)


def _capture(captured: Capture, hidden: tuple[str, ...]) -> Capture:
    said = {"stdout": shown_text(captured.stdout, hidden), "stderr": shown_text(captured.stderr, hidden)}
    return captured.model_copy(update=said)
