"""What all workers of one process serve with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import Worker

from activities.llm_turn import OpenModel
from activities.tools.discovery import Discovery
from activities.tools.tool_sets import ToolSets
from activities.tools.workspaces import Workspaces
from surefoot.reducer import Reducer
from workers.environment import process_environment
from workers.models import own_models
from workers.roles import Role
from workers.settings import Settings
from workers.walls import sandbox_of
from workers.worker import build_worker


@dataclass(frozen=True)
class Serving:
    """The environment of tools, the models, each opened once, and the settings."""

    environment: Mapping[str, str]
    open_model: OpenModel
    settings: Settings

    @classmethod
    def of(cls, settings: Settings, role: Role = "all") -> "Serving":
        """Serve with this process's own environment.

        Raises:
            SettingsError: the table of prices cannot be used, or a worker of this role not wall in its tools.
        """
        if role in ("all", "tools"):
            sandbox_of(settings)
        return cls(process_environment(), own_models(settings), settings)

    def worker(
        self,
        client: Client,
        *,
        queue: str,
        tools: Discovery,
        directory: Path,
        version: WorkerDeploymentVersion | None = None,
        reducers: Sequence[Reducer] = (),
        role: Role = "all",
        workspaces: Workspaces | None = None,
    ) -> Worker:
        """Build a worker for one queue as `build_worker` does; `directory` is where tools run."""
        return build_worker(
            client,
            queue=queue,
            tools=tools.served,
            directory=directory,
            environment=self.environment,
            open_model=self.open_model,
            settings=self.settings,
            version=version,
            tool_sets=ToolSets(tools.definitions, tools.tool_sets),
            reducers=reducers,
            role=role,
            workspaces=workspaces,
        )
