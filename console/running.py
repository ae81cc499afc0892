"""Carrying out `surefoot run`: on the embedded server with a worker inside, or as a client of another."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.price_table import PriceTable
from activities.tools.discovery import Discovery
from activities.tools.tool_sets import ToolSets
from activities.tools.workspaces import Workspace, make_workspace
from console.closing import closes
from console.drawing import Drawing
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.interrupt import Interrupt
from console.lines import write_line
from console.masked_output import behind_mask
from console.output import Output
from console.plain import PlainOutput
from console.reducer_sources import NO_REDUCERS, GivenReducers
from console.staying import keep_ui_up
from console.watching import resume_command, watch, watch_command
from surefoot.run import RunInput, fit_an_input
from workers.authority import authority_key_of
from workers.authority_key import AuthorityKey
from workers.codec_server.ui_codec import ui_codec
from workers.dev_presence import dev_is_up
from workers.environment import process_environment
from workers.models import check_form, check_model, is_scripted, price_table, provider_settings
from workers.served_queues import Claim, ServedQueue, ServedQueues
from workers.serving import Serving
from workers.settings import Settings
from workers.starting import RunExistsError, new_workflow_id, start_run
from workers.temporal import Temporal, temporal
from workers.walls import sandbox_of


@dataclass(frozen=True)
class NamedServer:
    """The run goes to a server that was named, to the workers that serve this queue there."""

    address: str
    queue: str


@dataclass(frozen=True)
class Embedded:
    """The run goes to the embedded server, and this command serves it on a queue of its own."""

    sources: tuple[str, ...]
    """Where the tools come from: absolute directories, or `builtin`."""
    tools: Discovery
    directory: Path
    """Where tools run; what a workspace of the run's own is a copy of."""
    stay: bool
    """Keep the UI up after the run, on a terminal."""
    agent: Path | None = None
    """The agent file that the tools come from, in place of sources."""
    reducers: GivenReducers = NO_REDUCERS
    workspace: Workspace = "shared"


Follow = Callable[[Client, str, Interrupt], Awaitable[ExitCode]]
"""Follows the run with an id on a server until it is over, or until the user asks to be left out of it."""


@dataclass(frozen=True)
class RunCommand:
    """A run that was asked for on the command line."""

    run: RunInput
    workflow_id: str
    where: NamedServer | Embedded
    detach: bool
    output: Output
    talk: Follow | None = None
    """What follows a session in place of `watch`."""
    key: AuthorityKey | None = None
    """What the decisions of whoever is asked at the terminal are signed with."""


async def carry_out(command: RunCommand, settings: Settings, interrupt: Interrupt) -> ExitCode:
    """Start the run, and unless it is detached follow it to its end."""
    check_form(command.run.model)
    if _asks(command):
        command = replace(command, key=authority_key_of(settings))
    match command.where:
        case NamedServer() as where:
            return await _on_named_server(command, where, settings, interrupt)
        case Embedded() as where:
            return await _on_embedded_server(command, where, settings, interrupt)


async def _on_named_server(
    command: RunCommand, where: NamedServer, settings: Settings, interrupt: Interrupt
) -> ExitCode:
    async with temporal(settings, address=where.address) as server:
        handle = await start_run(
            server.client, command.run, workflow_id=command.workflow_id, queue=where.queue
        )
        _begin(command, handle, server, queue=where.queue)
        if command.detach:
            return _leave(command, watch_command(handle.id, where.address))
        again = _again(command, handle.id, where.address)
        with interrupt.heeded(f"Leaving; the run goes on at {where.address}. {again}"):
            return await _follow(command, server.client, handle.id, interrupt, address=where.address)


async def _on_embedded_server(
    command: RunCommand, where: Embedded, settings: Settings, interrupt: Interrupt
) -> ExitCode:
    if command.detach and not dev_is_up(settings):
        raise CommandError(
            "--detach needs somebody who goes on serving the run: start `surefoot dev` first, or name a "
            "server with --address"
        )
    # A run that has begun would wait for tools that nobody may run.
    await asyncio.to_thread(sandbox_of, settings)
    prices = price_table(settings)
    # Loading a provider takes seconds, and so does starting the server.
    checking = asyncio.create_task(asyncio.to_thread(_check_model, command, prices))
    try:
        if is_scripted(command.run.model):
            await checking
        async with temporal(settings) as server:
            await checking
            async with ui_codec(settings) if where.stay else nullcontext():
                return await _start_and_serve(command, where, server, settings, interrupt)
    finally:
        await asyncio.gather(checking, return_exceptions=True)


def _check_model(command: RunCommand, prices: PriceTable) -> None:
    check_model(
        command.run.model,
        command.run.protocol,
        provider_settings(process_environment()),
        prices=prices,
        cost_limited=command.run.limits.max_cost is not None,
    )


async def _start_and_serve(
    command: RunCommand, where: Embedded, server: Temporal, settings: Settings, interrupt: Interrupt
) -> ExitCode:
    where = await asyncio.to_thread(_in_its_workspace, command, where, settings)
    claim = _claim_queue(command, where, settings)
    try:
        run = _with_tools(command.run, where, settings)
        handle = await start_run(
            server.client, run, workflow_id=command.workflow_id, queue=claim.served.queue
        )
        _begin(command, handle, server, queue=claim.served.queue)
        if command.detach:
            return _leave(command, watch_command(handle.id, None))
        again = _again(command, handle.id, None)
        with interrupt.heeded(
            f"Leaving; the run goes on with `surefoot dev`. {again} Ctrl-C again leaves at once."
        ):
            async with _worker(where, claim, server.client, settings):
                exit_code = await _follow(command, server.client, handle.id, interrupt)
                closed = exit_code is not ExitCode.DETACHED and (
                    not run.notify or await closes(handle, interrupt)
                )
        if closed:
            claim.forget()
    except RunExistsError:
        claim.forget()
        raise
    finally:
        # Whoever serves the queue next finds out whether the run was started, and whether it has ended.
        claim.release()
    if exit_code is not ExitCode.DETACHED:
        await keep_ui_up(interrupt, until_enter=where.stay)
    return exit_code


async def _follow(
    command: RunCommand, client: Client, workflow_id: str, interrupt: Interrupt, *, address: str | None = None
) -> ExitCode:
    if command.talk is not None:
        return await command.talk(client, workflow_id, interrupt)
    return await watch(
        client,
        workflow_id,
        command.output,
        interrupt,
        address=address,
        asks=_asks(command),
        children=_waits(command),
        key=command.key,
    )


def _again(command: RunCommand, workflow_id: str, address: str | None) -> str:
    if command.talk is not None:
        return f"`{resume_command(workflow_id, address)}` goes on with it."
    return f"`{watch_command(workflow_id, address)}` shows it again."


def _waits(command: RunCommand) -> bool:
    return command.run.on_approval == "wait"


def _asks(command: RunCommand) -> bool:
    """Whether there is somebody at this terminal who can be asked about calls."""
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    return _waits(command) and terminal and isinstance(behind_mask(command.output), Drawing | PlainOutput)


def _leave(command: RunCommand, again: str) -> ExitCode:
    command.output.end()
    write_line(sys.stderr, f"`{again}` follows it")
    return ExitCode.DONE


def _with_tools(run: RunInput, where: Embedded, settings: Settings) -> RunInput:
    """Spare the run the question what its worker can run, where the answer fits its input."""
    tools = ToolSets(where.tools.definitions).behind(sandbox_of(settings).level).plain
    if not fit_an_input(tools):
        return run
    return run.model_copy(update={"tools": tools, "working_directory": str(where.directory)})


def _in_its_workspace(command: RunCommand, where: Embedded, settings: Settings) -> Embedded:
    if where.workspace == "shared":
        return where
    directory = make_workspace(
        where.workspace, where.directory, settings.workspaces_location, command.workflow_id
    )
    write_line(sys.stderr, f"its tools work in {directory}")
    return replace(where, directory=directory)


def _claim_queue(command: RunCommand, where: Embedded, settings: Settings) -> Claim:
    return ServedQueues.of(settings).remember(
        ServedQueue(
            queue=new_workflow_id(),
            workflow_id=command.workflow_id,
            tool_directories=where.sources,
            agent=where.agent,
            working_directory=where.directory,
            protocol=command.run.protocol,
            reducers=where.reducers.sources,
        )
    )


def _worker(where: Embedded, claim: Claim, client: Client, settings: Settings) -> Worker:
    serving = Serving.of(settings)
    return serving.worker(
        client,
        queue=claim.served.queue,
        tools=where.tools,
        directory=where.directory,
        reducers=where.reducers.reducers,
    )


def _begin(command: RunCommand, handle: WorkflowHandle[Any, Any], server: Temporal, *, queue: str) -> None:
    run_id = handle.first_execution_run_id or ""
    command.output.begin(
        workflow_id=handle.id,
        run_id=run_id,
        ui_url=server.run_url(handle.id, run_id),
        model=command.run.model,
        queue=queue,
    )
