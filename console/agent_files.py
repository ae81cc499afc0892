"""What `--agent` takes, and the agent file that it stands for."""

from pathlib import Path
from typing import Annotated

import typer

from activities.agents.agent_file import AgentFile, read_agent
from activities.agents.finding import NoSuchAgentError, agent_path
from console.errors import CommandError
from workers.agent_directories import agent_directories

AgentOption = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="NAME|PATH",
        help="An agent file: agents/NAME.md here or in ~/.config/surefoot, or its path.",
    ),
]


def agent_or_complain(name: str) -> AgentFile:
    """Read the agent file that was named.

    Raises:
        CommandError: there is none, or it lists everything that is wrong with it, one per line.
    """
    agent = read_agent(named_file(name))
    if not isinstance(agent, AgentFile):
        raise CommandError("\n".join(str(problem) for problem in agent))
    return agent


def named_file(name: str) -> Path:
    """Give the path that `--agent` means.

    Raises:
        CommandError: there is no agent of this name, or it is empty.
    """
    if not name.strip():
        raise CommandError("--agent is empty, and needs the name of an agent or the path of its file")
    try:
        return agent_path(name, agent_directories())
    except NoSuchAgentError as error:
        raise CommandError(str(error)) from None
