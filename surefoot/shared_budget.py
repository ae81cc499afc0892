"""What a run lets the agents spend that it calls: what it has left, divided among those of one turn."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from surefoot.budget import cost_limit, input_token_limit, output_token_limit, time_limit, tool_call_limit
from surefoot.limits import Limits
from surefoot.spent import Spent
from surefoot.usage import BILLIONTH

_Amount = TypeVar("_Amount", int, float, Decimal)


@dataclass(frozen=True)
class Share:
    """What one agent's run may spend; None where its caller has no limit."""

    tool_calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True)
class NothingLeft:
    """Why an agent is not called: its caller has reached this limit, or will with the calls beside it."""

    limit: str


def shares(limits: Limits, spent: Spent, *, calls: int, agents: int) -> tuple[Share, ...]:
    """Divide what a run has left among the agents that one turn calls, in the order of their calls.

    `calls` is the number of all calls of the turn, which count themselves. The shares of what is limited
    add up to what is left, and differ by one at most; none is below zero.
    """
    usage = spent.usage
    tool_calls = _parts(_left(limits.max_tool_calls, spent.tool_calls + calls), agents)
    input_tokens = _parts(_left(limits.max_input_tokens, usage.input_tokens), agents)
    output_tokens = _parts(_left(limits.max_output_tokens, usage.output_tokens), agents)
    costs = _parts(_billionths_left(limits, spent), agents)
    return tuple(
        Share(calls_of_one, asked, answered, None if cost is None else cost * BILLIONTH)
        for calls_of_one, asked, answered, cost in zip(
            tool_calls, input_tokens, output_tokens, costs, strict=True
        )
    )


def child_limits(
    own: Limits, share: Share, *, caller: Limits, elapsed_seconds: float
) -> Limits | NothingLeft:
    """Give the limits that an agent's run starts with: its own, and no more than its share.

    `elapsed_seconds` is how long the caller has taken so far: the clock on the wall is not divided.
    """
    if (limit := next(_used_up(share, caller, elapsed_seconds), None)) is not None:
        return NothingLeft(limit)
    seconds_left = None if caller.max_seconds is None else caller.max_seconds - elapsed_seconds
    return own.model_copy(
        update={
            "max_tool_calls": _smaller(own.max_tool_calls, share.tool_calls),
            "max_input_tokens": _smaller(own.max_input_tokens, share.input_tokens),
            "max_output_tokens": _smaller(own.max_output_tokens, share.output_tokens),
            "max_cost": _smaller(own.max_cost, share.cost),
            "max_seconds": _smaller(own.max_seconds, seconds_left),
        }
    )


def _used_up(share: Share, caller: Limits, elapsed_seconds: float) -> Iterator[str]:
    if share.tool_calls == 0:
        yield tool_call_limit(caller)
    if share.input_tokens == 0:
        yield input_token_limit(caller)
    if share.output_tokens == 0:
        yield output_token_limit(caller)
    if share.cost == 0:
        yield cost_limit(caller)
    if caller.max_seconds is not None and elapsed_seconds >= caller.max_seconds:
        yield time_limit(caller)


def _left(limit: int | None, spent: int) -> int | None:
    return None if limit is None else max(limit - spent, 0)


def _billionths_left(limits: Limits, spent: Spent) -> int | None:
    if limits.max_cost is None:
        return None
    if spent.usage.requests and spent.usage.cost is None:
        # Nobody knows what was spent, and so nobody knows of anything that is left.
        return 0
    return max(int((limits.max_cost - (spent.usage.cost or 0)) / BILLIONTH), 0)


def _parts(left: int | None, among: int) -> tuple[int | None, ...]:
    if left is None:
        return (None,) * among
    return tuple(left // among + (n < left % among) for n in range(among))


def _smaller(own: _Amount | None, share: _Amount | None) -> _Amount | None:
    if own is None or share is None:
        return own if share is None else share
    return min(own, share)
