"""What a run has read that nobody vouches for: marks outcomes with it, and remembers where it came from."""

from collections.abc import Collection, Iterable

from temporalio import workflow

from surefoot.definition import ToolDefinition
from surefoot.untrusted import UntrustedSource, may_give_untrusted, outside_tools, reads_outside
from workflows.ending import Ending


class Untrusted:
    """The untrusted content of one run; a run of earlier code marks nothing, and goes on as it was."""

    def __init__(self) -> None:
        self.source: UntrustedSource | None = None
        """Where it first came from; None while the run has read none."""
        self.marks = False
        """Whether outcomes are marked, and the model is told of it."""
        self._network = False
        """Whether tools are marked, too, that say nothing, because the run gives them the network."""

    def begin(
        self,
        source: UntrustedSource | None,
        definitions: Collection[ToolDefinition],
        *,
        network: bool | None = None,
    ) -> None:
        """Begin with what was read before: by the run's caller, or by the runs before it in its chain."""
        self.source = source
        given = network is True and outside_tools(definitions, network=True) != outside_tools(definitions)
        # Asked last: a run without such tools pays no mark in its history.
        self._network = given and workflow.patched("untrusted-by-network")
        self.marks = self._network or (
            may_give_untrusted(definitions) and workflow.patched("untrusted-content")
        )

    def outside(self, definitions: Iterable[ToolDefinition]) -> tuple[str, ...]:
        """Name the tools whose outcomes are marked, and the agents that have such tools."""
        return outside_tools(definitions, network=self._network) if self.marks else ()

    def of(self, definition: ToolDefinition, ending: Ending) -> bool:
        """Tell whether what a call came to is from outside; what is said of one that never began is ours."""
        if not self.marks or ending.start is None:
            return False
        return (
            ending.untrusted
            if definition.agent is not None
            else reads_outside(definition, network=self._network)
        )

    def read(self, tool: str, tool_exec_id: str) -> None:
        """Remember a call whose outcome is from outside."""
        self.source = self.source or UntrustedSource(tool=tool, tool_exec_id=tool_exec_id)
