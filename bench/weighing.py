"""What a run has left on the server: its events, their bytes, and how long each turn took."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHistory

from activities.interface import LLM_TURN
from bench.handwritten import MODEL_ACTIVITY
from workers.chain import runs_up_to

_MODELS = (LLM_TURN, MODEL_ACTIVITY)


@dataclass(frozen=True)
class Weight:
    """All runs of a chain together."""

    runs: int
    events: int
    history_bytes: int
    status: str


async def weigh(client: Client, workflow_id: str) -> Weight:
    """Add up what all runs of a chain take of the server."""
    newest = await client.get_workflow_handle(workflow_id).describe()
    runs = await runs_up_to(client, workflow_id, newest.run_id or "", after=None)
    described = [await client.get_workflow_handle(workflow_id, run_id=run_id).describe() for run_id in runs]
    infos = [each.raw_description.workflow_execution_info for each in described]
    return Weight(
        runs=len(infos),
        events=sum(info.history_length for info in infos),
        history_bytes=sum(info.history_size_bytes for info in infos),
        status=described[-1].status.name.lower() if described[-1].status else "unknown",
    )


def turn_seconds(history: WorkflowHistory) -> list[float]:
    """Give how long each turn took by the server's clock: from one question to the model to the next one."""
    asked = [_time(event) for event in history.events if _asks_model(event)]
    return [later - earlier for earlier, later in pairwise(asked)]


def workflow_tasks(events: Sequence[HistoryEvent]) -> int:
    """Count how often a worker was asked what comes next."""
    return sum(event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED for event in events)


def _asks_model(event: HistoryEvent) -> bool:
    return event.activity_task_scheduled_event_attributes.activity_type.name in _MODELS


def _time(event: HistoryEvent) -> float:
    return event.event_time.ToNanoseconds() / 1e9
