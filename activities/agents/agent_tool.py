"""An agent file, offered as a tool to another agent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from activities.agents.agent_file import AgentFile
from activities.interface import ToolCallInput
from activities.tools.executor import Surroundings
from surefoot.definition import MAX_TIMEOUT_SECONDS, ToolAnnotations, ToolDefinition
from surefoot.failures import not_found_on_executor
from surefoot.json_schema import JsonSchema
from surefoot.outcome import ToolFailure
from surefoot.strict_json import encode_json
from surefoot.sub_agent import SubAgent
from surefoot.untrusted import reads_outside

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


_ANSWER: Final[JsonSchema] = {
    "status": {"type": "string", "enum": ["completed", "limit_reached"]},
    "answer": {"type": "string", "description": "What it found or did, in its own words"},
    "reason": {"type": ["string", "null"], "description": "The limit that ended it"},
    "turns": {"type": "integer"},
}


@dataclass(frozen=True)
class AgentTool:
    """A tool whose calls are runs of their own: a workflow starts them, and no executor ever does."""

    definition: ToolDefinition
    origin: str

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolFailure:  # noqa: ARG002  a tool's
        """Say that there is no such tool here: what executes tools does not run agents."""
        return not_found_on_executor(call.tool)


def agent_tool(agent: AgentFile, tools: Iterable[ToolDefinition] = ()) -> AgentTool:
    """Offer an agent as a tool of its name; with these `tools`, it reaches as far as they do."""
    definition = agent.definition
    limit_seconds = agent.limits.max_seconds or MAX_TIMEOUT_SECONDS
    return AgentTool(
        ToolDefinition(
            name=definition.name,
            description=definition.description,
            input_schema=_TASK,
            output_schema={"type": "object", "properties": {**_ANSWER, **_output(agent)}},
            annotations=ToolAnnotations(
                open_world_hint=any(reads_outside(tool, network=definition.network) for tool in tools) or None
            ),
            timeout_seconds=min(limit_seconds, MAX_TIMEOUT_SECONDS),
            agent=SubAgent(
                key=definition.name,
                model=agent.model,
                protocol=definition.protocol,
                system=agent.system,
                limits=agent.limits,
                approval=definition.approval,
                after_untrusted=definition.after_untrusted,
                network=definition.network,
                output_schema=definition.output_schema,
            ),
        ),
        str(agent.path),
    )


def _output(agent: AgentFile) -> JsonSchema:
    """Tell of the value that its answer is, where it is one."""
    schema = agent.definition.output_schema
    if schema is None:
        return {}
    # A reference within a schema leads from its root, which would be another one here.
    return {"output": {} if "$" in encode_json(schema) else schema}
