"""`--network`: whether the tools of a run have the network."""

from typing import Annotated, Literal

import typer

from surefoot.agent_definition import AgentDefinition

NetworkOption = Annotated[
    Literal["on", "off"] | None,
    typer.Option(
        "--network",
        help="Whether tools that are executables have the network; if unset, as the agent or each tool says.",
        show_default=False,
    ),
]


def chosen_network(asked: Literal["on", "off"] | None, agent: AgentDefinition | None) -> bool | None:
    """Give what was typed, else what the agent's file says; None leaves it to each tool."""
    if asked is not None:
        return asked == "on"
    return agent.network if agent is not None else None
