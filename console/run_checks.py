"""What `surefoot doctor` looks at of runs that go on, and of who serves them."""

from collections.abc import Iterator
from datetime import datetime

from temporalio.service import RPCError, RPCStatusCode

from console.findings import Finding, Verdict, fail, ok, warn
from workers.queues_in_use import QueueInUse, queues_in_use
from workers.temporal import Temporal
from workers.wedged_runs import RunsLookedAt, WedgedRun, find_wedged_runs


async def run_findings(server: Temporal, queue: str, *, now: datetime) -> list[Finding]:
    """Check open runs, their queues and `queue`; `now` is the server's clock.

    Raises:
        RPCError: the server stopped answering.
    """
    try:
        looked = await find_wedged_runs(server.client)
    except RPCError as error:
        if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.PERMISSION_DENIED):
            return [fail("runs", f"cannot be listed: {error.message}")]
        raise
    return [
        *(_wedged(run) for run in looked.wedged),
        _summary(looked),
        *await _queues(server, looked, queue, now),
    ]


def _summary(looked: RunsLookedAt) -> Finding:
    sentence = f"{_runs(looked.looked_at)} looked at, {len(looked.wedged)} cannot go on"
    if looked.more:
        return warn("runs", f"{sentence}; there are more, which were not looked at")
    return Finding(Verdict.FAIL if looked.wedged else Verdict.OK, "runs", sentence)


def _wedged(run: WedgedRun) -> Finding:
    advice = (
        "give its workers the key, and it goes on by itself"
        if run.lacks_key
        else "start workers with code that fits, and it goes on by itself; or terminate it"
    )
    sentence = (
        f"{run.workflow_id} cannot go on, its workflow task failed {run.attempts - 1} times: {run.reason}: "
        f"{advice}"
    )
    return Finding(Verdict.FAIL, "wedged run", sentence, wedged=run)


async def _queues(server: Temporal, looked: RunsLookedAt, queue: str, now: datetime) -> list[Finding]:
    try:
        found = await queues_in_use(server.client, looked.runs, queue, now=now)
    except RPCError as error:
        if error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
            return [warn("queue", f"who listens may not be asked: {error.message}")]
        raise
    return [finding for one in found for finding in _queue(one, embedded=server.embedded)]


def _queue(found: QueueInUse, *, embedded: bool) -> Iterator[Finding]:
    runs = _runs(found.runs)
    if not found.workers and found.runs:
        command = "surefoot dev" if embedded else f"surefoot worker --queue {found.queue}"
        yield warn("queue", f"{found.queue}: {runs}, and nobody who serves them: start `{command}`")
        return
    if not found.workers and embedded:
        # Runs of the embedded server bring their own.
        return
    workers = f"{found.workers} worker{'' if found.workers == 1 else 's'}"
    versions = f" of {', '.join(found.versions)}" if found.versions else ""
    sentence = f"{found.queue}: {runs}, {workers}{versions}"
    yield ok("queue", sentence) if found.workers else warn("queue", f"{sentence}: new runs would wait there")
    for version, count in found.unserved:
        yield fail(
            "version",
            f"{found.queue}: {count} of its runs stay with the version {version}, which no worker has: start "
            "one, or move them (docs/versioning.md)",
        )


def _runs(count: int) -> str:
    return f"{count} open run{'' if count == 1 else 's'}"
