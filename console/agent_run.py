"""What a run takes from its agent's file, where no option says otherwise."""

import sys
from decimal import Decimal

from activities.agents.agent_file import AgentFile
from console.lines import write_line
from console.safe_text import safe_text
from surefoot.limits import Limits
from surefoot.protocol import Protocol


def chosen_protocol(agent: AgentFile | None) -> Protocol:
    """Give the protocol of the file, else the native one."""
    return (agent.definition.protocol if agent is not None else None) or "native"


def chosen_limits(
    agent: AgentFile | None,
    *,
    max_turns: int | None = None,
    max_tool_calls: int | None = None,
    max_input_tokens: int | None = None,
    max_output_tokens: int | None = None,
    max_cost: Decimal | None = None,
    max_seconds: float | None = None,
    failures_in_a_row: int | None = None,
) -> Limits:
    """Give each limit as its option has it, else the file, else as every run has it."""
    given = {
        "max_turns": max_turns,
        "max_tool_calls": max_tool_calls,
        "max_input_tokens": max_input_tokens,
        "max_output_tokens": max_output_tokens,
        "max_cost": max_cost,
        "max_seconds": max_seconds,
        "failures_in_a_row": failures_in_a_row,
    }
    limits = agent.limits if agent is not None else Limits()
    return limits.model_copy(update={name: limit for name, limit in given.items() if limit is not None})


def say_whose_tools(agent: AgentFile, queue: str) -> None:
    """Tell on stderr that tools are not sent to a server: the run has those of its worker."""
    line = (
        f"The tools of this run are those of the worker on queue {queue}; `surefoot worker --agent "
        f"{agent.path}` serves those that the file names."
    )
    write_line(sys.stderr, safe_text(line))
