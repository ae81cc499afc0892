"""How long a worker takes to get back a run that it does not have in memory."""

import time
from collections.abc import Sequence

from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, WorkflowRunner

from bench.figure import Figure
from bench.handwritten import HandwrittenAgent, handwritten_sandbox
from bench.serving import Side
from surefoot.testing.replay import chain_of
from workflows.agent import Agent
from workflows.converter import DATA_CONVERTER


async def replay_seconds(side: Side, histories: Sequence[WorkflowHistory]) -> list[float]:
    """Replay each history and give how long that took."""
    match side:
        case "surefoot":
            replayer = _replayer(Agent, UnsandboxedWorkflowRunner())
        case "handwritten":
            replayer = _replayer(HandwrittenAgent, handwritten_sandbox())
    took: list[float] = []
    # The first one imports what all others share.
    for history in (histories[0], *histories):
        began = time.perf_counter()
        await replayer.replay_workflow(history)
        took.append(time.perf_counter() - began)
    return took[1:]


def _replayer(workflow: type, runner: WorkflowRunner) -> Replayer:
    return Replayer(workflows=[workflow], workflow_runner=runner, data_converter=DATA_CONVERTER)


async def replays(client: Client, *, ours: str, theirs: str, turns: int) -> list[Figure]:
    """Compare what it takes to replay two runs of the same workload."""
    seconds = [
        max(await replay_seconds("surefoot", await chain_of(client, ours))),
        max(await replay_seconds("handwritten", await chain_of(client, theirs))),
    ]
    return [Figure(f"replay of {turns:,} turns", "ms", 1000 * seconds[0], 1000 * seconds[1])]
