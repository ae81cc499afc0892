"""A tool whose answers are given whole, to those who cut for themselves."""

from dataclasses import dataclass

from activities.interface import ToolCallInput
from activities.tools.executor import Surroundings, Tool
from surefoot.definition import ToolDefinition
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.sizes import MAX_ANSWER_BYTES


@dataclass(frozen=True)
class UncutTool:
    """The tool itself but for its `limits.result`, which becomes the cap for all answers."""

    tool: Tool

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition, with that limit."""
        definition = self.tool.definition
        limits = definition.limits.model_copy(update={"result": MAX_ANSWER_BYTES})
        return definition.model_copy(update={"limits": limits})

    @property
    def origin(self) -> str:
        """Where the tool is from."""
        return self.tool.origin

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        """Run the tool."""
        return await self.tool.run(call, surroundings)
