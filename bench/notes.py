"""What a measured worker notes down for who measures it: one JSON object a line, times from one clock."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from temporalio.client import Interceptor, OutboundInterceptor, QueryWorkflowInput
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner

Kind = Literal["serving", "turn", "query", "instance"]


@dataclass(frozen=True)
class Note:
    """One thing that happened in a worker."""

    kind: Kind
    at: float
    """On the machine's monotonic clock, which all processes share."""
    turn: int = 0
    seconds: float = 0
    """How long a query took."""


class Notes:
    """Writes to one file."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", buffering=1)

    def write(self, kind: Kind, *, turn: int = 0, seconds: float = 0) -> None:
        """Note one thing that happened now."""
        note = {"kind": kind, "at": time.monotonic(), "turn": turn, "seconds": seconds}
        self._file.write(f"{json.dumps(note)}\n")

    def turn(self, turn: int) -> None:
        """Note that the model was asked."""
        self.write("turn", turn=turn)


def read_notes(file: Path) -> list[Note]:
    """Read what was written so far."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [Note(**json.loads(line)) for line in lines if line.endswith("\n")]


class NotingQueries(Interceptor):
    """Notes every query that a worker's own client sends: the cost of a conversation that it had not."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002  the SDK's name
        """Stand before the client."""
        return _Queries(next, self._notes)


class _Queries(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, notes: Notes) -> None:  # noqa: A002  the SDK's name
        super().__init__(next)
        self._notes = notes

    async def query_workflow(self, input: QueryWorkflowInput) -> Any:  # noqa: A002, ANN401  the SDK's
        began = time.monotonic()
        try:
            return await super().query_workflow(input)
        finally:
            self._notes.write("query", seconds=time.monotonic() - began)


class NotingRunner(WorkflowRunner):
    """Notes every run that begins in this worker's memory, be it new or replayed."""

    def __init__(self, runner: WorkflowRunner, notes: Notes) -> None:
        self._runner, self._notes = runner, notes

    def prepare_workflow(self, defn: Any) -> None:  # noqa: ANN401  private to the SDK
        """Prepare, as the runner does."""
        self._runner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Create one, as the runner does."""
        self._notes.write("instance")
        return self._runner.create_instance(det)

    def set_worker_level_failure_exception_types(self, types: Sequence[type[BaseException]]) -> None:
        """Pass on what fails a run."""
        self._runner.set_worker_level_failure_exception_types(types)
