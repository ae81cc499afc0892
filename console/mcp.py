"""`surefoot mcp`: offer tools to any MCP client."""

import logging
from importlib.metadata import version
from pathlib import Path

from activities.tools.artifacts import Artifacts
from activities.tools.executor import Tool
from console.directories import working_directory
from console.entry import run_to_exit_code
from console.exit_codes import ExitCode
from console.options import ToolsOption, WorkdirOption
from console.stored_artifacts import store_or_complain
from console.tool_sources import load_tools, tool_sources
from workers.child_signals import keep_exit_codes
from workers.local_calls import LocalCalls, runs_here
from workers.logging import configure_logging
from workers.uncut_tool import UncutTool

_log = logging.getLogger("surefoot.mcp")


def mcp(tools: ToolsOption = None, workdir: WorkdirOption = None) -> int:
    """Offer the tools to an MCP client, over stdin and stdout, until it goes away.

    Each call is checked, timed and killed as a run's, but no Temporal is needed. Ctrl-C and SIGTERM end it
    with exit code 130.
    """
    configure_logging()
    offered = _offered(tool_sources(tools or ()))
    directory, artifacts = working_directory(workdir), Artifacts(store_or_complain())
    keep_exit_codes()
    return run_to_exit_code(lambda _: _serve(offered, directory, artifacts))


def _offered(sources: tuple[str, ...]) -> dict[str, Tool]:
    offered: dict[str, Tool] = {}
    for name, tool in load_tools(sources).tools.items():
        if runs_here(tool):
            offered[name] = UncutTool(tool)
        else:
            _log.warning("%s is not offered: only a run can call an agent, or another queue's tool", name)
    return offered


async def _serve(tools: dict[str, Tool], directory: Path, artifacts: Artifacts) -> ExitCode:
    # It takes as long to load as everything else, and no other command needs it.
    from workers.mcp_server import mcp_server
    from workers.mcp_stdio import standard_connection

    calls = LocalCalls(tools, directory=directory, artifacts=artifacts, kind="mcp")
    server = mcp_server(calls, version=version("surefoot"))
    try:
        async with standard_connection() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
    finally:
        await calls.close()
    return ExitCode.DONE
