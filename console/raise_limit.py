"""`surefoot raise-limit`: let a run spend more than it was started with."""

from typing import Annotated

import typer
from pydantic import JsonValue

from console.errors import CommandError
from console.given_text import checked_name
from console.limit_options import (
    MaxCost,
    MaxFailuresInARow,
    MaxInputTokens,
    MaxOutputTokens,
    MaxTime,
    MaxToolCalls,
    MaxTurns,
)
from console.options import AddressOption, ReasonOption, RunArgument, SenderOption
from console.steer import steer
from surefoot.run import RaiseLimit
from workers.steering import raise_limits

_LIFTED = {
    "tool-calls": "max_tool_calls",
    "input-tokens": "max_input_tokens",
    "output-tokens": "max_output_tokens",
    "cost": "max_cost",
    "time": "max_seconds",
}


def raise_limit(
    run: RunArgument,
    max_turns: MaxTurns = None,
    max_tool_calls: MaxToolCalls = None,
    max_input_tokens: MaxInputTokens = None,
    max_output_tokens: MaxOutputTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    max_failures_in_a_row: MaxFailuresInARow = None,
    lift: Annotated[
        list[str] | None,
        typer.Option(metavar="LIMIT", help=f"Take a limit away: {', '.join(_LIFTED)}; can be repeated."),
    ] = None,
    reason: ReasonOption = None,
    sender: SenderOption = None,
    address: AddressOption = None,
) -> int:
    """Raise limits of a run that is at work, from its next turn on.

    Each may only go up. A run that has reached one, and is told to answer with what it has, keeps them. The
    exit code is 0 once the limits are raised, 2 if they are not, and 1 if no worker answers for the run.
    """
    given: dict[str, JsonValue] = {
        "max_turns": max_turns,
        "max_tool_calls": max_tool_calls,
        "max_input_tokens": max_input_tokens,
        "max_output_tokens": max_output_tokens,
        "max_cost": None if max_cost is None else str(max_cost),
        "max_seconds": max_time,
        "failures_in_a_row": max_failures_in_a_row,
    }
    named = {name: limit for name, limit in given.items() if limit is not None}
    limits = {**named, **dict.fromkeys(_lifted(lift or []))}
    if not limits:
        raise CommandError("no limit is named: pass --max-turns N, or another limit of `surefoot run`")
    request = RaiseLimit(
        limits=limits, reason=checked_name("--reason", reason), sender=checked_name("--from", sender)
    )
    return steer(run, address, lambda client, found: raise_limits(client, found, request), done="raised")


def _lifted(names: list[str]) -> list[str]:
    for name in names:
        if name not in _LIFTED:
            raise CommandError(f"--lift {name!a} names no limit that can be lifted: {', '.join(_LIFTED)}")
    return [_LIFTED[name] for name in names]
