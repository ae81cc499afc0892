"""Carrying out `surefoot run`: on the embedded server with a worker inside, or as a client of another."""

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHandle

from activities.discovery import Discovery
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.interrupt import Interrupt, interruptible
from console.output import Output
from console.watching import watch
from surefoot.run import RunInput
from workers.dev_presence import dev_is_up
from workers.models import check_model, model_opener, provider_settings
from workers.served_queues import Claim, ServedQueue, ServedQueues
from workers.settings import Settings
from workers.starting import new_workflow_id, start_run
from workers.temporal import Temporal, temporal
from workers.worker import build_worker


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
    """Where tools run."""
    stay: bool
    """Keep the UI up after the run, on a terminal."""


@dataclass(frozen=True)
class RunCommand:
    """A run that was asked for on the command line."""

    run: RunInput
    workflow_id: str
    where: NamedServer | Embedded
    detach: bool
    output: Output


async def carry_out(command: RunCommand, settings: Settings) -> ExitCode:
    """Start the run, and unless it is detached follow it to its end."""
    match command.where:
        case NamedServer() as where:
            return await _on_named_server(command, where, settings)
        case Embedded() as where:
            return await _on_embedded_server(command, where, settings)


async def _on_named_server(command: RunCommand, where: NamedServer, settings: Settings) -> ExitCode:
    async with temporal(settings, address=where.address) as server:
        handle = await start_run(
            server.client, command.run, workflow_id=command.workflow_id, queue=where.queue
        )
        _begin(command, handle, server)
        if command.detach:
            command.output.end()
            return ExitCode.DONE
        with interruptible(f"Leaving; the run goes on on {where.address}.") as interrupt:
            return await watch(handle, command.output, interrupt)


async def _on_embedded_server(command: RunCommand, where: Embedded, settings: Settings) -> ExitCode:
    if command.detach and not dev_is_up(settings):
        raise CommandError(
            "--detach needs somebody who goes on serving the run: start `surefoot dev` first, or name a "
            "server with --address"
        )
    # Loading a provider takes seconds, and so does starting the server.
    keys = provider_settings(os.environ)
    checked = asyncio.create_task(
        asyncio.to_thread(check_model, command.run.model, command.run.protocol, keys)
    )
    async with temporal(settings) as server:
        await checked
        claim = _claim_queue(command, where, settings)
        try:
            handle = await start_run(
                server.client, command.run, workflow_id=command.workflow_id, queue=claim.served.queue
            )
        except BaseException:
            claim.forget()
            raise
        _begin(command, handle, server)
        if command.detach:
            command.output.end()
            claim.release()
            return ExitCode.DONE
        return await _serve_and_watch(command, where, handle, claim, server, settings)


def _claim_queue(command: RunCommand, where: Embedded, settings: Settings) -> Claim:
    return ServedQueues.of(settings).remember(
        ServedQueue(
            queue=new_workflow_id(),
            workflow_id=command.workflow_id,
            tool_directories=where.sources,
            working_directory=where.directory,
            protocol=command.run.protocol,
        )
    )


async def _serve_and_watch(
    command: RunCommand,
    where: Embedded,
    handle: WorkflowHandle[Any, Any],
    claim: Claim,
    server: Temporal,
    settings: Settings,
) -> ExitCode:
    worker = build_worker(
        server.client,
        queue=claim.served.queue,
        tools=where.tools.tools,
        directory=where.directory,
        environment=os.environ,
        open_model=model_opener(provider_settings(os.environ)),
        settings=settings,
    )
    last_words = "Leaving; the run goes on with `surefoot dev`. Ctrl-C again leaves at once."
    with interruptible(last_words) as interrupt:
        try:
            async with worker:
                exit_code = await watch(handle, command.output, interrupt)
        finally:
            claim.release()
        if exit_code is not ExitCode.DETACHED:
            claim.forget()
            await _keep_ui_up(where, interrupt)
    return exit_code


def _begin(command: RunCommand, handle: WorkflowHandle[Any, Any], server: Temporal) -> None:
    run_id = handle.first_execution_run_id or ""
    ui_url = server.run_url(handle.id, run_id)
    command.output.begin(workflow_id=handle.id, run_id=run_id, ui_url=ui_url, model=command.run.model)


async def _keep_ui_up(where: Embedded, interrupt: Interrupt) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    if where.stay:
        sys.stderr.write("The UI stays up until you press Enter.\n")
        sys.stderr.flush()
        await interrupt.first(asyncio.create_task(asyncio.to_thread(sys.stdin.readline)))
    else:
        sys.stderr.write("The UI goes down with this command; `surefoot dev` shows the run again.\n")
