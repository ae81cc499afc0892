"""A run that has ended."""

from dataclasses import dataclass
from pathlib import Path

from temporalio.client import WorkflowHistory

from surefoot.ledger import RunStatus
from surefoot.run import RunResult
from surefoot.testing.replay import write_histories
from surefoot.testing.transcript import Transcript


@dataclass(frozen=True)
class FinishedRun:
    """How a run ended, and all that happened in it."""

    status: RunStatus
    answer: str
    """The model's last words; empty where the run failed or was cancelled."""
    error: str | None
    """Why the run failed, or which limit it reached."""
    result: RunResult | None
    """What the workflow returned; None where the run failed or was cancelled."""
    transcript: Transcript
    histories: tuple[WorkflowHistory, ...]
    """The run's history, and those of the runs that continued it."""

    def record(self, file: Path) -> tuple[Path, ...]:
        """Write the histories for `replays`, as `surefoot.testing.record` does; gives the files."""
        return write_histories(self.histories, file)
