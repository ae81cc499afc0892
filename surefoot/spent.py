"""What a run has spent so far."""

from datetime import datetime

from surefoot.breaker import FailureStreaks
from surefoot.conversation import Message, ToolMessage
from surefoot.outcome import ToolFailure
from surefoot.usage import NO_USAGE, Usage
from surefoot.wire import WireModel


class Used(WireModel):
    """What a run used together with the agents that it called, and they called."""

    tool_calls: int = 0
    usage: Usage = NO_USAGE


NOTHING_USED = Used()


class Spent(WireModel):
    """What counts against a run's limits, over its whole chain; its turns are counted by its conversation."""

    tool_calls: int = 0
    """Calls that the model asked for, whatever they came to, but for those that a limit forbade; and those
    of the agents that were called."""
    usage: Usage = NO_USAGE
    started_at: datetime | None = None
    elapsed_seconds: float = 0
    """From the start to the moment that is decided about."""
    streaks: FailureStreaks = FailureStreaks()
    limit: str | None = None
    """The limit that the model was told of; others may be reached while it closes."""

    def after(self, message: Message) -> "Spent":
        """Count one message of the conversation in."""
        streaks = self.streaks.after(message)
        match message:
            case ToolMessage(outcome=ToolFailure(error_code="LIMIT_REACHED")):
                return self.model_copy(update={"streaks": streaks})
            case ToolMessage():
                return self.model_copy(update={"streaks": streaks, "tool_calls": self.tool_calls + 1})
            case _:
                return self.model_copy(update={"streaks": streaks})

    def with_calls(self, tool_calls: int) -> "Spent":
        """Count in the calls of an agent that was called; its usage comes with the run's own, see `at`."""
        return self.model_copy(update={"tool_calls": self.tool_calls + tool_calls})

    @property
    def used(self) -> Used:
        """What whoever called this run counts in."""
        return Used(tool_calls=self.tool_calls, usage=self.usage)

    def told_of(self, limit: str | None) -> "Spent":
        """Note the limit that the model was told of; None is none."""
        return self if limit is None else self.model_copy(update={"limit": limit})

    def at(self, now: datetime, usage: Usage) -> "Spent":
        """Give what is spent at this time, with the usage until then; the first time counts as the start."""
        started_at = self.started_at or now
        elapsed_seconds = max((now - started_at).total_seconds(), 0)
        return self.model_copy(
            update={"usage": usage, "started_at": started_at, "elapsed_seconds": elapsed_seconds}
        )


NOTHING_SPENT = Spent()
