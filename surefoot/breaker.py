"""Notices a tool that fails in the same way again and again, before an agent burns money in a loop."""

from surefoot.conversation import Message, ToolMessage, UserMessage
from surefoot.outcome import ErrorCode, ToolFailure
from surefoot.wire import WireModel

_MAX_STREAKS = 64
_MAX_SHOWN_CHARACTERS = 64


class Streak(WireModel):
    """Failures in a row of one tool, all with one error code; calls of other tools may lie between them."""

    tool: str
    error_code: ErrorCode
    failures: int = 1
    warned_at: int = 0
    """How many failures there were when the model was last warned; 0 if it never was."""


class FailureStreaks(WireModel):
    """The tools that are failing, the one that failed last at the end.

    A model can make up any number of tools, so that only the newest 64 streaks are kept.
    """

    streaks: tuple[Streak, ...] = ()

    def after(self, message: Message) -> "FailureStreaks":
        """Count one message in: an outcome goes on with its tool's streak or ends it, a warning is noted."""
        match message:
            case ToolMessage(tool=tool, outcome=ToolFailure(error_code=error_code)):
                return self._failed(tool, error_code)
            case ToolMessage(tool=tool):
                return FailureStreaks(streaks=self._others(tool))
            case UserMessage(purpose="warning"):
                warned = (s.model_copy(update={"warned_at": s.failures}) for s in self.streaks)
                return FailureStreaks(streaks=tuple(warned))
            case _:
                return self

    def to_warn_of(self, limit: int) -> tuple[Streak, ...]:
        """Give the streaks that reach the limit and that the model has not been warned of."""
        return tuple(s for s in self.streaks if s.warned_at < limit <= s.failures)

    def beyond(self, limit: int) -> Streak | None:
        """Give a streak that reaches twice the limit and goes on in spite of a warning.

        A turn of many calls can fail as often at once; the model is warned first all the same.
        """
        went_on = (s for s in self.streaks if limit <= s.warned_at < s.failures)
        return next((s for s in went_on if s.failures >= 2 * limit), None)

    def _failed(self, tool: str, error_code: ErrorCode) -> "FailureStreaks":
        before = next((s for s in self.streaks if (s.tool, s.error_code) == (tool, error_code)), None)
        if before is None:
            streak = Streak(tool=tool, error_code=error_code)
        else:
            streak = before.model_copy(update={"failures": before.failures + 1})
        return FailureStreaks(streaks=(*self._others(tool), streak)[-_MAX_STREAKS:])

    def _others(self, tool: str) -> tuple[Streak, ...]:
        return tuple(s for s in self.streaks if s.tool != tool)


def warning_text(streaks: tuple[Streak, ...], limit: int) -> str:
    """Tell the model, in the user's role, what keeps failing and what will come of it."""
    failing = "; ".join(
        f"tool {shown(s.tool)} has failed {s.failures:,} times in a row with {s.error_code}" for s in streaks
    )
    return (
        f"{failing[:1].upper()}{failing[1:]}. Do not repeat the same call: change what you ask of it, use "
        "another tool, or answer with what you have and say what did not work. "
        f"After {2 * limit:,} such failures in a row the run ends."
    )


def shown(tool: str) -> str:
    """Name a tool as the outcomes do, shortened where a model made the name up."""
    return f"'{tool if len(tool) <= _MAX_SHOWN_CHARACTERS else tool[:_MAX_SHOWN_CHARACTERS] + '…'}'"
