"""The task queues that open runs are on, and who listens there."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.client import Client, WorkflowExecution
from temporalio.common import SearchAttributeKey

from activities.queues import pollers_of
from surefoot.listeners import RECENTLY

MAX_QUEUES = 50
"""How many queues are looked at; embedded runs have one each."""

_VERSION = SearchAttributeKey.for_keyword("TemporalWorkerDeploymentVersion")
_BEHAVIOR = SearchAttributeKey.for_keyword("TemporalWorkflowVersioningBehavior")


@dataclass(frozen=True)
class QueueInUse:
    """A task queue, and who asked it for workflow tasks within the last minute or so."""

    queue: str
    runs: int
    """How many open runs are on it."""
    workers: int
    versions: tuple[str, ...]
    """Those of its workers that have one, as `deployment:build`."""
    unserved: tuple[tuple[str, int], ...]
    """Versions that runs stay with and no worker has, each with the number of such runs."""


async def queues_in_use(
    client: Client, runs: Iterable[WorkflowExecution], also: str, *, now: datetime
) -> tuple[QueueInUse, ...]:
    """Look at the queues of these runs, the fullest first, and at one more; `now` is the server's clock.

    Raises:
        RPCError: the server did not answer, or refused.
    """
    of_queue: dict[str, list[WorkflowExecution]] = {also: []}
    for run in runs:
        of_queue.setdefault(run.task_queue, []).append(run)
    chosen = sorted(of_queue.items(), key=lambda one: len(one[1]), reverse=True)[:MAX_QUEUES]
    return tuple(await asyncio.gather(*(_look(client, queue, on_it, now) for queue, on_it in chosen)))


async def _look(client: Client, queue: str, runs: Sequence[WorkflowExecution], now: datetime) -> QueueInUse:
    pollers = await pollers_of(client, queue, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)
    recent = [one for one in pollers if now - one.last_access_time.ToDatetime(tzinfo=UTC) <= RECENTLY]
    versions = {version for one in recent if (version := _version(one))}
    pinned = [version for version in map(_pinned_to, runs) if version is not None]
    return QueueInUse(
        queue,
        len(runs),
        # A worker asks on several connections, always under its own name.
        workers=len({one.identity for one in recent}),
        versions=tuple(sorted(versions)),
        unserved=tuple(sorted((one, count) for one, count in Counter(pinned).items() if one not in versions)),
    )


def _version(poller: PollerInfo) -> str | None:
    options = poller.deployment_options
    return f"{options.deployment_name}:{options.build_id}" if options.deployment_name else None


def _pinned_to(run: WorkflowExecution) -> str | None:
    told = run.typed_search_attributes
    return told.get(_VERSION) if told.get(_BEHAVIOR) == "Pinned" else None
