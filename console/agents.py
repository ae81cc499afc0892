"""`surefoot agents`: look at agent files, and check them with all of their tools."""

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from activities.agents.finding import named_agents
from console.agent_check import AgentReport, check_agents
from console.agent_files import agent_or_complain
from console.agent_table import agent_fields, agent_lines, agent_rows, agent_table
from console.exit_codes import ExitCode
from console.json_text import json_text
from console.lines import write_line
from console.safe_text import safe_text
from workers.agent_directories import agent_directories


class AgentsFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[AgentsFormat, typer.Option("--output", "-o", help="What stdout carries.")]
_NAMES = "The name of a file in agents/ here or in ~/.config/surefoot/agents, or a path."

agents_app = typer.Typer(
    help="Look at agent files, and check them with all of their tools.", pretty_exceptions_enable=False
)


@agents_app.command("list")
def list_agents(output: FormatOption = AgentsFormat.TEXT) -> int:
    """List the agents that have a name: those in agents/ here, then those in ~/.config/surefoot/agents.

    A file that cannot be used is listed as damaged.
    """
    rows = agent_rows(named_agents(agent_directories()))
    match output:
        case AgentsFormat.JSON:
            write_line(sys.stdout, json_text([row.fields() for row in rows]))
        case AgentsFormat.TEXT:
            for line in agent_table(rows):
                write_line(sys.stdout, line)
            _say_if_none(rows)
    return ExitCode.DONE


@agents_app.command("show")
def show_agent(
    name: Annotated[str, typer.Argument(metavar="NAME|PATH", help=_NAMES)],
    output: FormatOption = AgentsFormat.TEXT,
) -> int:
    """Show what an agent's file says, defaults filled in, and its system prompt."""
    agent = agent_or_complain(name)
    match output:
        case AgentsFormat.JSON:
            write_line(sys.stdout, json_text(agent_fields(agent)))
        case AgentsFormat.TEXT:
            for line in agent_lines(agent):
                write_line(sys.stdout, safe_text(line) if sys.stdout.isatty() else line)
    return ExitCode.DONE


@agents_app.command("check")
def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME|PATH]…", help=_NAMES)] = None,
    output: FormatOption = AgentsFormat.TEXT,
) -> int:
    """Name everything that is wrong with agents and their tools, warnings included; exit 1 if anything is.

    Without a name, all agents that `list` lists are checked.
    """
    reports = check_agents(names or sorted(named_agents(agent_directories())))
    match output:
        case AgentsFormat.JSON:
            write_line(sys.stdout, json_text([report.fields() for report in reports]))
        case AgentsFormat.TEXT:
            _print(reports)
            _say_if_none(reports)
    return ExitCode.RUN_FAILED if any(report.problems for report in reports) else ExitCode.DONE


def _print(reports: tuple[AgentReport, ...]) -> None:
    for report in reports:
        if not report.problems:
            tools = ", ".join(report.tools) or "no tools"
            write_line(sys.stdout, safe_text(f"ok: {report.asked} ({report.file}): {tools}"))
    # What several agents share is wrong once.
    for problem in dict.fromkeys(problem for report in reports for problem in report.problems):
        write_line(sys.stderr, safe_text(f"problem: {problem}"))


def _say_if_none(found: Sequence[object]) -> None:
    if not found:
        places = " or ".join(str(directory) for directory in agent_directories())
        write_line(sys.stderr, safe_text(f"there is no agent file in {places}"))
