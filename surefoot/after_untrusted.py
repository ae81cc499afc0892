"""Rules for the calls of a run that has read untrusted content, by what their tools may do."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator

from surefoot.approval import Approval, approvals_size_problem

RiskClass = Literal["irreversible", "write", "network"]
"""What a tool may do: destroy, change anything at all, reach the world outside."""

RISK_CLASSES: tuple[RiskClass, ...] = get_args(RiskClass)


def _checked(rules: dict[RiskClass, Approval]) -> dict[RiskClass, Approval]:
    for name, rule in rules.items():
        if rule == "first-use":
            raise ValueError(f"{name}: cannot be first-use; who is asked can approve for the rest of the run")
    if (problem := approvals_size_problem({**rules})) is not None:
        raise ValueError(problem)
    return rules


AfterUntrusted = Annotated[dict[RiskClass, Approval], AfterValidator(_checked)]
"""When calls need approval once untrusted content was read, whatever held before."""


def both(one: Mapping[RiskClass, Approval], other: Mapping[RiskClass, Approval]) -> dict[RiskClass, Approval]:
    """Give rules that ask wherever either of two does; where no rule says exactly that, always."""
    return {
        name: _stricter(one.get(name, "never"), other.get(name, "never"))
        for name in RISK_CLASSES
        if name in one or name in other
    }


def _stricter(one: Approval, other: Approval) -> Approval:
    if one == other or one == "never":
        return other
    return one if other == "never" else "always"
