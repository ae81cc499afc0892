"""Content that nobody vouches for: which tools give it, and what a call is asked about once it was read.

A tool says of itself what it does; what says nothing may do it.
"""

from collections.abc import Iterable, Iterator, Mapping

from surefoot.admission import Admitted
from surefoot.after_untrusted import RiskClass
from surefoot.approval import Approval, why_to_ask
from surefoot.definition import ToolAnnotations, ToolDefinition
from surefoot.summary import shorten
from surefoot.wire import WireModel


class UntrustedSource(WireModel):
    """The call by which untrusted content first came into a run."""

    tool: str
    tool_exec_id: str
    """`<turn>-<n>`, as the ledger names it."""
    of_caller: bool = False
    """Whether it is a call of a run that calls this one."""

    @property
    def told(self) -> str:
        """Say it in a phrase."""
        who = "its caller" if self.of_caller else "the run"
        return f"{who} has read untrusted content from {shorten(self.tool, 64)} in call {self.tool_exec_id}"


def reads_outside(definition: ToolDefinition, *, network: bool | None = None) -> bool:
    """Tell whether a tool says that what it gives comes from the world outside.

    A tool that says nothing reads it where its run gives it the `network`; of agents only their runs know.
    """
    hint = definition.annotations.open_world_hint
    return hint is True or (hint is None and network is True and definition.agent is None)


def outside_tools(definitions: Iterable[ToolDefinition], *, network: bool | None = None) -> tuple[str, ...]:
    """Name the tools that read the world outside, and the agents that have such tools."""
    return tuple(sorted(one.name for one in definitions if reads_outside(one, network=network)))


def may_give_untrusted(definitions: Iterable[ToolDefinition]) -> bool:
    """Tell whether a call of these tools may bring untrusted content; of agents only their runs know."""
    return any(reads_outside(definition) or definition.agent is not None for definition in definitions)


def classes_of(annotations: ToolAnnotations) -> dict[RiskClass, str]:
    """Give the classes that a tool is in, each with the reason in a phrase; the worst comes first."""
    return dict(_classes(annotations))


def _classes(hints: ToolAnnotations) -> Iterator[tuple[RiskClass, str]]:
    if hints.destructive_hint:
        yield "irreversible", "the tool may destroy"
    elif hints.destructive_hint is None and not hints.read_only_hint:
        yield "irreversible", "the tool does not say that it destroys nothing"
    if hints.read_only_hint is None:
        yield "write", "the tool does not say that it only reads"
    elif not hints.read_only_hint:
        yield "write", "the tool writes"
    if hints.open_world_hint is None:
        yield "network", "the tool does not say that it stays on its machine"
    elif hints.open_world_hint:
        yield "network", "the tool reaches the outside world"


def why_to_ask_after(
    source: UntrustedSource,
    call: Admitted,
    rules: Mapping[RiskClass, Approval],
    *,
    directory: str | None,
) -> str | None:
    """Say why a call needs approval now that untrusted content was read; None if it does not.

    A call of an agent does not: its run knows what its caller has read, and asks for its own calls.
    """
    definition = call.definition
    if definition.agent is not None:
        return None
    hints = definition.annotations
    for name, phrase in classes_of(hints).items():
        rule = rules.get(name, "never")
        reason = why_to_ask(rule, call.params, destructive=hints.destructive_hint, directory=directory)
        if reason is not None:
            more = "" if rule in ("always", "destructive") else f"; {reason}"
            return f"{source.told}, and {phrase}{more}"
    return None
