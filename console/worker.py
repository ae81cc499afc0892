"""`surefoot worker`: serve runs and tools on one queue until it is told to stop."""

import asyncio
from typing import Annotated

import structlog
import typer
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion

from activities.tools.discovery import Discovery
from activities.tools.workspaces import Workspaces
from console.agent_files import AgentOption, agent_or_complain
from console.directories import workspaces_of_runs
from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.interrupt import Interrupt
from console.options import AddressOption, ToolsOption, WorkdirOption, WorkspaceOption
from console.reducer_sources import GivenReducers, ReducersOption, load_reducers
from console.role import RoleOption, checked_role
from console.tool_sources import load_tools, load_tools_of, tool_sources
from workers.logging import configure_logging
from workers.roles import Role, queue_of
from workers.runtime import serve_metrics
from workers.serving import Serving
from workers.settings import Settings
from workers.temporal import temporal
from workers.versioning import deployment_version, gets_new_runs

NO_TOOLS = Discovery()

log: structlog.stdlib.BoundLogger = structlog.get_logger("surefoot.worker")


def worker(
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="The task queue to serve; `surefoot` if unset.")
    ] = None,
    role: RoleOption = "all",
    agent: AgentOption = None,
    tools: ToolsOption = None,
    reducers: ReducersOption = None,
    workdir: WorkdirOption = None,
    workspace: WorkspaceOption = None,
    address: AddressOption = None,
) -> int:
    """Serve runs and their tools on a task queue until Ctrl-C or SIGTERM.

    The tools are those of --tools, or else those that the file of --agent names.

    Without --workdir each run has a directory of its own; with it, all of them work there.

    Also serves the tools of other runs whose definitions name this queue as their executorQueue.

    With --role it does one part of that, and three kinds of workers together do all of it: docs/scaling.md.

    Running calls then have SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT seconds to finish before they are interrupted.
    A second signal stops at once, and its calls are lost. The exit code is 0 either way.

    With SUREFOOT_DEPLOYMENT and SUREFOOT_BUILD_ID it is a version of its deployment (docs/versioning.md).
    """
    configure_logging()
    settings = settings_or_complain()
    served = checked_name("--queue", queue) or settings.task_queue
    part = checked_role(role, queue=served, agent=agent, tools=tools, reducers=reducers)
    found = _tools(agent, tools) if part in ("all", "tools") else NO_TOOLS
    given = load_reducers(reducers)
    workspaces, named = workspaces_of_runs(workdir, workspace, settings), address_or_complain(address)
    return run_to_exit_code(
        lambda interrupt: _serve(settings, served, part, found, given, workspaces, named, interrupt),
        interrupted=ExitCode.DONE,
    )


def _tools(agent: str | None, tools: list[str] | None) -> Discovery:
    if agent is None:
        return load_tools(tool_sources(tools or ()))
    if tools:
        raise CommandError("--agent serves the tools that its file names: leave out --tools, or --agent")
    return load_tools_of(agent_or_complain(agent))


async def _serve(
    settings: Settings,
    queue: str,
    role: Role,
    tools: Discovery,
    given: GivenReducers,
    workspaces: Workspaces,
    address: str | None,
    interrupt: Interrupt,
) -> ExitCode:
    serve_metrics(settings.metrics_address)
    serving, version = Serving.of(settings, role), deployment_version(settings)
    async with temporal(settings, address=address) as server:
        # The SDK looks, too, but its error is no sentence.
        namespace = DescribeNamespaceRequest(namespace=server.client.namespace)
        await server.client.workflow_service.describe_namespace(namespace)
        built = serving.worker(
            server.client,
            queue=queue,
            tools=tools,
            directory=workspaces.named,
            workspaces=workspaces,
            version=version,
            reducers=given.reducers,
            role=role,
        )
        queue = queue_of(role, queue)
        grace = settings.graceful_shutdown_timeout.total_seconds()
        with interrupt.heeded(f"Stopping; running calls have {grace:g}s. Again to stop at once."):
            async with built:
                named = {"role": role} if role != "all" else {}
                named |= {"version": version.to_canonical_string()} if version else {}
                log.info(
                    "serving", task_queue=queue, address=server.address, tools=sorted(tools.tools), **named
                )
                advice = asyncio.create_task(_advise(server.client, version))
                await interrupt.asked.wait()
                advice.cancel()
        log.info("stopped", task_queue=queue)
    return ExitCode.DONE


async def _advise(client: Client, version: WorkerDeploymentVersion | None) -> None:
    """Say what is missing where the server gives this version nothing to do."""
    if version is None or await gets_new_runs(client, version):
        return
    log.warning(
        "new runs wait until their version is current",
        version=version.to_canonical_string(),
        command="temporal worker deployment set-current-version "
        f"--deployment-name {version.deployment_name} --build-id {version.build_id}",
    )
