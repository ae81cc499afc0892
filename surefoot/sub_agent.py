"""An agent that other agents call as a tool: what its runs are started with."""

from typing import Annotated

from pydantic import Field

from surefoot.after_untrusted import AfterUntrusted, RiskClass
from surefoot.approval import Approval, Approvals
from surefoot.json_schema import JsonSchema
from surefoot.limits import Limits
from surefoot.protocol import Protocol
from surefoot.run_text import ModelName, SystemText
from surefoot.wire import CamelModel, is_empty, is_none


class SubAgent(CamelModel):
    """The part of a tool's definition that makes it an agent; the model that calls it is shown none of it."""

    key: Annotated[str, Field(min_length=1, max_length=1_000)]
    """Names the set of tools that a worker gives to runs of this agent."""
    model: ModelName | None = None
    """None is the model of the run that calls it."""
    protocol: Protocol | None = None
    """None is the protocol of the run that calls it."""
    system: SystemText | None = None
    limits: Limits = Limits()
    """Its own; a run of it starts with what its caller has left, and never with more than this."""
    approval: Approvals = Field(default_factory=dict[str, Approval], exclude_if=is_empty)
    """When it wants calls of its tools approved."""
    after_untrusted: AfterUntrusted = Field(default_factory=dict[RiskClass, Approval], exclude_if=is_empty)
    """When it wants that once its run has read untrusted content."""
    network: bool | None = Field(default=None, exclude_if=is_none)
    """Whether its tools have the network; None leaves it to each tool."""
    output_schema: JsonSchema | None = None
    """What its final answer must fit; None where any text will do."""
