"""A worker process's wiring: the agent workflow, the model's turns and the tools, together or one of them."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.plugin import SimplePlugin
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.heartbeats import BeatIntervals
from activities.llm_turn import OpenModel
from activities.tools.artifacts import Artifacts
from activities.tools.executor import Tool, ToolExecutor
from activities.tools.sandbox.sandbox import UNCONFINED
from activities.tools.tool_sets import ToolSets
from activities.tools.workspaces import Workspaces
from surefoot.reducer import Reducer
from workers.child_signals import keep_exit_codes
from workers.notifying import notifying
from workers.reducing import Reducing
from workers.role_activities import model_activities, run_activities, tool_activities
from workers.roles import Role, queue_of
from workers.settings import Settings
from workers.storage import open_store
from workers.telemetry.metrics import Measuring
from workers.telemetry.tracing import tracing
from workers.versioning import pinning
from workers.walls import sandbox_of
from workflows.agent import Agent

# How long a run waits for the worker that knew it last. At the default of 10 s a killed worker's runs stand
# still for that long, and queries of them time out, before another worker is asked.
_STICKY_PATIENCE = timedelta(seconds=3)


def build_worker(
    client: Client,
    *,
    queue: str,
    tools: Mapping[str, Tool],
    directory: Path,
    environment: Mapping[str, str],
    open_model: OpenModel,
    settings: Settings,
    version: WorkerDeploymentVersion | None = None,
    tool_sets: ToolSets | None = None,
    reducers: Sequence[Reducer] = (),
    role: Role = "all",
    workspaces: Workspaces | None = None,
) -> Worker:
    """Build a worker that serves runs and their tools on one queue; `directory` is where tools run.

    With `workspaces`, the calls of each run do so where these say.

    In another role it serves a part of that, for the runs that are started on `queue`; `workers.roles` names
    the queue that it polls itself. Without the part, the tools and models that it is given are not used.

    `tool_sets` tells which of the tools a run is given; without it, each is given all of them. Each run keeps
    a slice of its state for each of the `reducers`.

    With a version, the server gives it new runs once that is current, and keeps each run on its version.

    Leaving the worker's context lets running activities finish within the graceful shutdown timeout.
    """
    keep_exit_codes()
    # A beat within the throttle waits there, and is as old as that when the server gets it.
    with_news = max(settings.heartbeat_output_interval, settings.heartbeat_throttle)
    intervals = BeatIntervals(with_news, settings.heartbeat_idle_interval)
    store = open_store(settings, environment)
    runs_tools = role in ("all", "tools")
    sandbox = sandbox_of(settings) if runs_tools else UNCONFINED
    executor = ToolExecutor(
        tools, directory, environment, Artifacts(store), sandbox=sandbox, workspaces=workspaces
    )
    served = queue_of(role, queue)
    sets = tool_sets or ToolSets(executor.definitions)
    activities: list[Callable[..., Any]] = []
    if role in ("all", "agent"):
        telling = notifying(
            settings, namespace=client.namespace, directory=directory, environment=environment
        )
        activities += run_activities(client, telling, queue=queue, role=role)
    if role in ("all", "llm"):
        activities += model_activities(open_model, store, intervals)
    if runs_tools:
        sets = sets.behind(sandbox.level)
        # A run finds them on its own queue, unless they say where they are.
        sets = sets if role == "all" else sets.at(served)
        activities += tool_activities(executor, sets, intervals, identity=client.identity)
    telemetry = [Measuring()] if settings.metrics_address is not None else []
    return Worker(
        client,
        task_queue=served,
        workflows=[Agent] if role in ("all", "agent") else [],
        activities=activities,
        deployment_config=pinning(version),
        # A sandbox imports our workflows anew for each run and stands before every `isinstance`, a third of
        # what a turn costs here. What it looks for, mistakes of ours, the tests find: they replay runs in it.
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_concurrent_activities=settings.max_concurrent_activities,
        max_concurrent_workflow_tasks=settings.max_concurrent_workflow_tasks,
        # How late a heartbeat's details and a cancel arrive; the defaults of 30 and 60 s are far too late.
        default_heartbeat_throttle_interval=settings.heartbeat_throttle,
        max_heartbeat_throttle_interval=settings.heartbeat_throttle,
        sticky_queue_schedule_to_start_timeout=_STICKY_PATIENCE,
        graceful_shutdown_timeout=settings.graceful_shutdown_timeout,
        interceptors=[*telemetry, *([Reducing(reducers)] if reducers else [])],
        plugins=[
            SimplePlugin("surefoot.tools", run_context=partial(_closing, executor)),
            *tracing(settings),
        ],
    )


@asynccontextmanager
async def _closing(executor: ToolExecutor) -> AsyncGenerator[None]:
    """End what tools keep open when the worker has ended, and no activity of it runs any more."""
    try:
        yield
    finally:
        await executor.close()
