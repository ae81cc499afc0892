"""`surefoot dev`: server, UI and workers on this machine until Ctrl-C."""

import asyncio
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from activities.tools.discovery import Discovery
from activities.tools.workspaces import Workspaces
from console.directories import workspaces_of_runs
from console.entry import run_to_exit_code, settings_or_complain
from console.exit_codes import ExitCode
from console.interrupt import Interrupt
from console.options import ToolsOption, WorkdirOption, WorkspaceOption
from console.tool_sources import load_tools, tool_sources
from workers.codec_server.ui_codec import ui_codec
from workers.dev_presence import announce_dev
from workers.embedded_server import embedded_server
from workers.logging import configure_logging
from workers.runtime import serve_metrics
from workers.server_watch import keep_up
from workers.serving import Serving
from workers.settings import Settings
from workers.takeover import QueueTakeover


@dataclass(frozen=True)
class _Ports:
    server: int | None
    ui: int | None


def dev(
    tools: ToolsOption = None,
    workdir: WorkdirOption = None,
    workspace: WorkspaceOption = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The server's port.")] = None,
    ui_port: Annotated[int | None, typer.Option(min=1, max=65535, help="The UI's port.")] = None,
) -> int:
    """Keep the embedded server and its UI up, with workers, until Ctrl-C.

    Goes on with every unfinished run, takes over from commands that leave, and serves the queue `surefoot`
    with the given tools for clients that name this server.
    """
    configure_logging()
    settings = settings_or_complain()
    found = load_tools(tool_sources(tools or ()))
    workspaces, ports = workspaces_of_runs(workdir, workspace, settings), _Ports(port, ui_port)
    return run_to_exit_code(
        lambda interrupt: _dev(settings, found, workspaces, ports, interrupt), interrupted=ExitCode.DONE
    )


async def _dev(
    settings: Settings, tools: Discovery, workspaces: Workspaces, ports: _Ports, interrupt: Interrupt
) -> ExitCode:
    serve_metrics(settings.metrics_address)
    serving = Serving.of(settings)
    presence = await announce_dev(settings)
    try:
        async with embedded_server(settings, port=ports.server, ui_port=ports.ui) as server:
            worker = serving.worker(
                server.client,
                queue=settings.task_queue,
                tools=tools,
                directory=workspaces.named,
                workspaces=workspaces,
            )
            takeover = QueueTakeover(server.client, serving)
            with interrupt.heeded("Stopping; unfinished runs go on at the next start."):
                async with worker, ui_codec(settings):
                    _say(f"Temporal   {server.address}", f"UI         {server.ui_url}")
                    named = ", ".join(sorted(tools.tools)) or "no tools"
                    _say(f"task queue {settings.task_queue} with {named}")
                    await _until_asked(interrupt, takeover.run(), keep_up(server, settings))
        return ExitCode.DONE
    finally:
        presence.release()


async def _until_asked(interrupt: Interrupt, *duties: Coroutine[Any, Any, None]) -> None:
    """Go on with duties that have no end of their own; the first that fails ends them all."""
    tasks = [asyncio.create_task(duty) for duty in duties]
    await interrupt.first(*tasks)
    for task in tasks:
        task.cancel()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end


def _say(*lines: str) -> None:
    for line in lines:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
