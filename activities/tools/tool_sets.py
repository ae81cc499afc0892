"""Which of its worker's tools a run is given."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
