"""`surefoot mcp`: offer tools to any MCP client."""

import logging
from importlib.metadata import version
from typing import Annotated

import typer

from activities.tools.artifacts import Artifacts
from activities.tools.executor import Tool
from console.directories import working_directory
from console.entry import run_to_exit_code, sandbox_or_complain, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.interrupt import Interrupt
from console.options import ToolsOption, WorkdirOption
from console.stored_artifacts import store_or_complain
from console.tool_sources import load_tools, tool_sources
from workers.child_signals import keep_exit_codes
from workers.local_calls import LocalCalls, runs_here
from workers.logging import configure_logging
from workers.uncut_tool import UncutTool

USUAL_PORT = 8234

_log = logging.getLogger("surefoot.mcp")


def mcp(
    tools: ToolsOption = None,
    workdir: WorkdirOption = None,
    http: Annotated[
        bool,
        typer.Option("--http", help="Serve clients on this machine over HTTP, in place of one over stdin."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port for --http, 8234 if unset; 0 is any free one."),
    ] = None,
) -> int:
    """Offer the tools to an MCP client, over stdin and stdout, until it goes away.

    Each call is checked, timed and killed as a run's, but no Temporal is needed. Ctrl-C and SIGTERM end it
    with exit code 130.
    """
    configure_logging()
    if port is not None and not http:
        raise CommandError("--port is for --http")
    offered = _offered(tool_sources(tools or ()))
    directory, artifacts = working_directory(workdir), Artifacts(store_or_complain())
    sandbox = sandbox_or_complain(settings_or_complain())
    keep_exit_codes()

    def calls() -> LocalCalls:
        return LocalCalls(offered, directory=directory, artifacts=artifacts, kind="mcp", sandbox=sandbox)

    if http:
        wanted = USUAL_PORT if port is None else port
        return run_to_exit_code(lambda interrupt: _serve_http(calls(), wanted, interrupt))
    return run_to_exit_code(lambda _: _serve(calls()))


def _offered(sources: tuple[str, ...]) -> dict[str, Tool]:
    offered: dict[str, Tool] = {}
    for name, tool in load_tools(sources).tools.items():
        if runs_here(tool):
            offered[name] = UncutTool(tool)
        else:
            _log.warning("%s is not offered: only a run can call an agent, or another queue's tool", name)
    return offered


# What follows is loaded where it is needed: it takes as long as all the rest, and no other command needs it.


async def _serve(calls: LocalCalls) -> ExitCode:
    from workers.mcp_server import mcp_server
    from workers.mcp_stdio import standard_connection

    server = mcp_server(calls, version=version("surefoot"))
    try:
        async with standard_connection() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
    finally:
        await calls.close()
    return ExitCode.DONE


async def _serve_http(calls: LocalCalls, port: int, interrupt: Interrupt) -> ExitCode:
    from workers.mcp_http import PATH, listen, serve_http
    from workers.mcp_server import mcp_server

    with listen(port) as listening, interrupt.heeded("Stopping."):
        host, taken = listening.getsockname()
        _log.info("serving http://%s:%s%s", host, taken, PATH)
        try:
            await serve_http(mcp_server(calls, version=version("surefoot")), listening)
        finally:
            await calls.close()
    # Nothing but a signal ends it.
    return ExitCode.DETACHED
