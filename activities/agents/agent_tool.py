"""An agent file, offered as a tool to another agent."""

from dataclasses import dataclass
from typing import Final

from activities.agents.agent_file import AgentFile
from activities.interface import ToolCallInput
from activities.tools.executor import Surroundings
from surefoot.definition import MAX_TIMEOUT_SECONDS, ToolDefinition
from surefoot.failures import not_found_on_executor
from surefoot.json_schema import JsonSchema
from surefoot.outcome import ToolFailure
from surefoot.sub_agent import SubAgent

_TASK: Final[JsonSchema] = {
    "type": "object",
    "properties": {
        "prompt": {
            "type": "string",
            "minLength": 1,
            "description": "What the agent is to do. It sees nothing of this conversation: say all that it "
            "needs to know, and what it is to answer.",
        }
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class AgentTool:
    """A tool whose calls are runs of their own: a workflow starts them, and no executor ever does."""

    definition: ToolDefinition
    origin: str

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolFailure:  # noqa: ARG002  a tool's
        """Say that there is no such tool here: what executes tools does not run agents."""
        return not_found_on_executor(call.tool)


def agent_tool(agent: AgentFile) -> AgentTool:
    """Offer an agent as a tool of its name."""
    definition = agent.definition
    limit_seconds = agent.limits.max_seconds or MAX_TIMEOUT_SECONDS
    return AgentTool(
        ToolDefinition(
            name=definition.name,
            description=definition.description,
            input_schema=_TASK,
            timeout_seconds=min(limit_seconds, MAX_TIMEOUT_SECONDS),
            agent=SubAgent(
                key=definition.name,
                model=agent.model,
                protocol=definition.protocol,
                system=agent.system,
                limits=agent.limits,
                output_schema=definition.output_schema,
            ),
        ),
        str(agent.path),
    )
