"""Options that several commands have, each with one meaning everywhere."""

from pathlib import Path
from typing import Annotated

import typer

from activities.tools.workspaces import Workspace

ToolsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="SOURCE",
        help="A directory of tools, module:attribute of Python, a FILE.json that names MCP servers, the "
        "FILE.md of an agent, or `builtin`; can be repeated.",
    ),
]
WorkdirOption = Annotated[
    Path | None,
    typer.Option("--workdir", metavar="DIR", help="Where tools run; the current directory if unset."),
]
WorkspaceOption = Annotated[
    Workspace | None,
    typer.Option(
        "--workspace",
        help="Whether runs share that directory, have an empty one of their own, or a copy of it.",
        show_default=False,
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option("--address", metavar="HOST:PORT", help="A Temporal server; else Temporal's own settings."),
]
RunArgument = Annotated[str, typer.Argument(metavar="WORKFLOW_ID", help="The run's id in Temporal.")]
ReasonOption = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the run's record.")
]
SenderOption = Annotated[
    str | None, typer.Option("--from", metavar="NAME", help="Who does it, for the run's record.")
]
RevealOption = Annotated[
    bool, typer.Option("--reveal", help="Show also what is hidden as a secret (docs/secrets.md).")
]
