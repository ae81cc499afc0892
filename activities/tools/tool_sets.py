"""Which of its worker's tools a run is given."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from activities.tools.sandbox.level import Level
from surefoot.definition import ToolDefinition


@dataclass(frozen=True)
class ToolSets:
    """The definitions for each kind of run, in the order of their names."""

    plain: tuple[ToolDefinition, ...]
    """For runs that are no agent's."""
    of_agents: Mapping[str, tuple[ToolDefinition, ...]] = field(
        default_factory=dict[str, tuple[ToolDefinition, ...]]
    )
    """By `SubAgent.key`."""

    def behind(self, level: Level) -> "ToolSets":
        """Give the same tools; those that destroy need approval where no walls are, unless a run says no."""
        if level != "none":
            return self
        return ToolSets(_guarded(self.plain), {key: _guarded(tools) for key, tools in self.of_agents.items()})

    def at(self, queue: str) -> "ToolSets":
        """Give the same tools, with those that run where their run does on this queue instead."""
        return ToolSets(
            _at(self.plain, queue), {key: _at(tools, queue) for key, tools in self.of_agents.items()}
        )


def _guarded(tools: tuple[ToolDefinition, ...]) -> tuple[ToolDefinition, ...]:
    return tuple(
        tool.model_copy(update={"approval": "destructive"}) if tool.approval == "never" else tool
        for tool in tools
    )


def _at(tools: tuple[ToolDefinition, ...], queue: str) -> tuple[ToolDefinition, ...]:
    # An agent among the tools is a run, and no activity.
    return tuple(
        tool if tool.executor_queue or tool.agent else tool.model_copy(update={"executor_queue": queue})
        for tool in tools
    )
