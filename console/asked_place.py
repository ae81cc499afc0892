"""Where a run goes that was asked for on the command line, and who serves it there."""

from dataclasses import dataclass, replace
from pathlib import Path

from activities.agents.agent_file import AgentFile
from activities.tools.workspaces import Workspace
from console.directories import working_directory
from console.errors import CommandError
from console.reducer_sources import load_reducers
from console.running import Embedded, NamedServer
from console.tool_sources import load_tools, load_tools_of, tool_sources
from workers.settings import Settings


@dataclass(frozen=True)
class AskedPlace:
    """What was typed about the worker of a run."""

    agent: AgentFile | None
    tools: list[str] | None
    reducers: list[str] | None
    workdir: Path | None
    queue: str | None
    stay: bool = False
    workspace: Workspace | None = None


def asked_place(asked: AskedPlace, settings: Settings, *, address: str | None) -> NamedServer | Embedded:
    """Give the server that was named, else the embedded one, with the tools that this command serves.

    Raises:
        CommandError: what was typed does not belong there, or cannot be loaded.
    """
    if address is None:
        return replace(
            _embedded(asked),
            reducers=load_reducers(asked.reducers),
            workspace=asked.workspace or "shared",
        )
    _refuse_worker_options(asked, address)
    return NamedServer(address, asked.queue or settings.task_queue)


def _embedded(asked: AskedPlace) -> Embedded:
    if asked.queue is not None:
        raise CommandError("--queue names a worker on a server: pass --address too")
    directory = working_directory(asked.workdir)
    if (agent := asked.agent) is not None and not asked.tools:
        return Embedded((), load_tools_of(agent), directory, asked.stay, agent.path.absolute())
    sources = tool_sources(asked.tools or ())
    return Embedded(sources, load_tools(sources), directory, asked.stay)


def _refuse_worker_options(asked: AskedPlace, address: str) -> None:
    for option, given in (
        ("--tools", asked.tools),
        ("--reducers", asked.reducers),
        ("--workdir", asked.workdir),
        ("--workspace", asked.workspace),
    ):
        if given:
            raise CommandError(
                f"{option} belongs to the worker: start `surefoot worker {option} …` on {address}, and "
                "leave it out here"
            )
    if asked.stay:
        raise CommandError(f"--stay is for the embedded server, and this run goes to {address}")
