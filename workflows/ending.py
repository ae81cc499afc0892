"""What a tool call came to, whichever way it ended."""

from dataclasses import dataclass

from surefoot.admission import Admitted
from surefoot.failures import Captured
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.truncation import keep_ends


@dataclass(frozen=True)
class Start:
    """When a call started and who ran it, as far as anyone said."""

    started_at: str | None
    executor: str | None
    child_id: str | None = None
    """The run that answers the call of an agent; the ledger was told of it when it began."""
    sandbox: str | None = None
    """The level of the sandbox that an executable ran at."""


@dataclass(frozen=True)
class Ending:
    """The outcome of a call; `start` is None for one that never started."""

    outcome: ToolSuccess | ToolFailure
    start: Start | None
    answer_bytes: int = 0
    """What the answer takes of the history, whatever became of it; 0 where there is none."""
    answer_values: int = 0
    """How many JSON values of the answer the run keeps, guessed from above."""
    untrusted: bool = False
    """Whether the run that answered the call of an agent has read untrusted content."""


def bounded(call: Admitted, *, stdout: str = "", stderr: str = "") -> Captured:
    """Give what a failure of this call shows of its output, within the tool's limits."""
    limits = call.definition.limits
    return Captured(keep_ends(stdout, limits.stdout), keep_ends(stderr, limits.stderr))
