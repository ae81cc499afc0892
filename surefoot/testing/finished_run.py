"""A run that has ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import WorkflowHistory

from surefoot.events import RunStatus
from surefoot.reducer import Reduce
from surefoot.run import RunResult
from surefoot.slices import Slice
from surefoot.testing.reducing import slices_of
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

    def slices(self, *functions: Reduce) -> Mapping[str, Slice]:
        """Give what functions with `@reducer` above them make of the run's calls, by the name of each.

        Raises:
            ValueError: one is no reducer, or cannot be used.
        """
        return slices_of(self.transcript.events, functions)

    def record(self, file: Path) -> tuple[Path, ...]:
        """Write the histories for `replays`, as `surefoot.testing.record` does; gives the files."""
        return write_histories(self.histories, file)
