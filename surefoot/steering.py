"""What operators do to a run: hold it and let it go on, and raise its limits; which of that applies when."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue, ValidationError

from surefoot.limits import Limits
from surefoot.run import Pause, RaiseLimit, Resume
from surefoot.sizes import MAX_REASON_CHARACTERS, MAX_SENDER_CHARACTERS
from surefoot.strict_json import is_unicode
from surefoot.wire import WireModel

Going = Literal["running", "waiting", "paused"]
"""How a run goes on: it waits for its model to come back, or was paused by somebody."""


class Hold(WireModel):
    """Why a run begins no turn and no tool call until it is resumed."""

    status: Literal["waiting", "paused"]
    reason: str | None = None


@dataclass(frozen=True)
class Steering:
    """What holds a run, and the limits that it has now."""

    hold: Hold | None = None
    limits: Limits | None = None
    """None before the run has begun."""

    @property
    def going(self) -> Going:
        """How the run goes on."""
        return "running" if self.hold is None else self.hold.status

    def why_no_pause(self, request: Pause, *, closed: str | None) -> str | None:
        """Say in a sentence why the run is not paused; `closed` is why it takes no messages any more."""
        match self.hold:
            case Hold(status="paused"):
                return "the run is paused already"
            case Hold():
                return "the run waits for its model already; resume lets it ask again"
            case None:
                return closed or _flaw_of(request.reason, request.sender)

    def why_no_resume(self, request: Resume) -> str | None:
        """Say in a sentence why the run is not resumed."""
        if self.hold is None:
            return "the run is not paused"
        return _flaw_of(None, request.sender)

    def why_no_raise(self, request: RaiseLimit, *, closed: str | None) -> str | None:
        """Say in a sentence why no limit is raised; `closed` is why the run takes no messages any more."""
        if self.limits is None:
            return closed or "the run has not begun yet; send it again"
        return (
            closed or _flaw_of(request.reason, request.sender) or why_not_raised(self.limits, request.limits)
        )

    def pause(self, request: Pause) -> "Steering":
        """Give the steering of the run that somebody paused."""
        return replace(self, hold=Hold(status="paused", reason=request.reason))

    def wait_for_model(self, reason: str) -> "Steering":
        """Give the steering of the run whose model is away; what somebody paused stays paused."""
        return replace(self, hold=self.hold or Hold(status="waiting", reason=reason))

    def resume(self) -> "Steering":
        """Give the steering of the run that goes on."""
        return replace(self, hold=None)


def raised(limits: Limits, wanted: Mapping[str, JsonValue]) -> Limits:
    """Give the limits with some of them changed; raises ValidationError for a value that is none."""
    return Limits.model_validate({**limits.model_dump(), **wanted})


def why_not_raised(limits: Limits, wanted: Mapping[str, JsonValue]) -> str | None:
    """Say in a sentence why limits are not changed like this: each may only go up, or be lifted by null."""
    if not wanted:
        return f"no limit is named; there are: {', '.join(Limits.model_fields)}"
    if unknown := [name for name in wanted if name not in Limits.model_fields]:
        return f"there is no limit {unknown[0]!r}; there are: {', '.join(Limits.model_fields)}"
    try:
        after = raised(limits, wanted)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    flaws = (_why_not_above(name, getattr(limits, name), getattr(after, name)) for name in wanted)
    return next((flaw for flaw in flaws if flaw is not None), None)


def _why_not_above(name: str, before: float | None, after: float | None) -> str | None:
    if before is None:
        return f"{name} has no limit, and gets none: limits only go up"
    if after is None or after > before:
        return None
    return f"{name} is {before if before % 1 else int(before):,} already, and limits only go up"


def _flaw_of(reason: str | None, sender: str | None) -> str | None:
    if not is_unicode(reason or "") or not is_unicode(sender or ""):
        return "the reason or the sender's name holds bytes that are no UTF-8"
    if len(reason or "") > MAX_REASON_CHARACTERS:
        return f"the reason is longer than {MAX_REASON_CHARACTERS:,} characters"
    if len(sender or "") > MAX_SENDER_CHARACTERS:
        return f"the sender's name is longer than {MAX_SENDER_CHARACTERS} characters"
    return None
