"""`surefoot tools`: look at tools, check them, and call one as a run would."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from activities.tools.executor import Tool
from console.directories import working_directory
from console.exit_codes import ExitCode
from console.json_text import escape_controls, json_text
from console.lines import write_line
from console.safe_text import safe_text
from console.tool_approval import approval_of
from console.tool_call import call_tool, find_tool, read_params
from console.tool_check import check_tools
from console.tool_sources import load_tools, tool_sources
from console.tool_table import tool_rows, tool_table
from surefoot.outcome import ToolSuccess, envelope
from surefoot.prompt import tool_section


class ToolsFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    JSON = "json"


ToolsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="SOURCE",
        help="A directory of tools, module:attribute of Python, a FILE.json that names MCP servers, the "
        "FILE.md of an agent, or `builtin`; can be repeated. "
        "Unset, it is `builtin`.",
    ),
]
FormatOption = Annotated[ToolsFormat, typer.Option("--output", "-o", help="What stdout carries.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The tool's name.")]

tools_app = typer.Typer(
    help="Look at tools, check them, and call one as a run would.",
    pretty_exceptions_enable=False,
)


@tools_app.command("list")
def list_tools(tools: ToolsOption = None, output: FormatOption = ToolsFormat.TEXT) -> int:
    """List the tools: name, timeout, where it is from, and what it does."""
    rows = tool_rows(tool_sources(tools or ()))
    match output:
        case ToolsFormat.JSON:
            write_line(sys.stdout, json_text([row.fields() for row in rows]))
        case ToolsFormat.TEXT:
            for line in tool_table(rows):
                write_line(sys.stdout, line)
    return ExitCode.DONE


@tools_app.command("show")
def show_tool(name: NameArgument, tools: ToolsOption = None, output: FormatOption = ToolsFormat.TEXT) -> int:
    """Show what the model sees of a tool, and when it needs approval.

    As JSON, it is its manifest with every default filled in.
    """
    tool = find_tool(load_tools(tool_sources(tools or ())), name)
    match output:
        case ToolsFormat.JSON:
            write_line(sys.stdout, _manifest(tool))
        case ToolsFormat.TEXT:
            section = tool_section([tool.definition])
            write_line(sys.stdout, safe_text(section) if sys.stdout.isatty() else section)
            for line in approval_of(tool.definition):
                write_line(sys.stdout, line)
    return ExitCode.DONE


@tools_app.command("check")
def check(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE]…", help="As `--tools` takes them.")
    ] = None,
    tools: ToolsOption = None,
) -> int:
    """Name everything that is wrong with the tools, warnings included; exit 1 if anything is."""
    report = check_tools(tool_sources([*(sources or ()), *(tools or ())]))
    for tool in report.good:
        write_line(sys.stdout, f"ok: {tool.definition.name} ({safe_text(tool.origin)})")
        for line in approval_of(tool.definition):
            write_line(sys.stdout, f"  {line}")
    for problem in report.problems:
        write_line(sys.stderr, safe_text(f"problem: {problem}"))
    return ExitCode.RUN_FAILED if report.problems else ExitCode.DONE


@tools_app.command("call")
def call(
    name: NameArgument,
    params: Annotated[str, typer.Argument(metavar="JSON", help="The params; `-` reads them from stdin.")],
    tools: ToolsOption = None,
    workdir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the tool runs; the current directory if unset."),
    ] = None,
) -> int:
    """Call a tool as a run would and print the outcome that the model would read.

    Exit 0 on `tool_success: true`, 1 on false. Ctrl-C kills the tool.
    """
    found = load_tools(tool_sources(tools or ()))
    tool = find_tool(found, name)
    given: JsonValue = read_params(sys.stdin.buffer.read() if params == "-" else params)
    outcome = call_tool(found, tool, given, directory=working_directory(workdir))
    if outcome is None:
        return ExitCode.DETACHED
    write_line(sys.stdout, escape_controls(envelope(outcome)))
    return ExitCode.DONE if isinstance(outcome, ToolSuccess) else ExitCode.RUN_FAILED


def _manifest(tool: Tool) -> str:
    return escape_controls(tool.definition.model_dump_json(by_alias=True, indent=2))
