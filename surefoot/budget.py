"""Which of its limits a run has reached, by the name that people and the model are told."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

from surefoot.breaker import shown
from surefoot.limits import Limits
from surefoot.spent import Spent


def limit_reached(limits: Limits, spent: Spent, *, turns: int) -> str | None:
    """Name the first limit that is reached, such as `limit of 50 turns`; None while there is none."""
    return next(_reached(limits, spent, turns), None)


def time_is_up(limits: Limits, spent: Spent) -> bool:
    """Tell whether the run has taken all of its time."""
    return limits.max_seconds is not None and spent.elapsed_seconds >= limits.max_seconds


def turn_limit(limits: Limits) -> str:
    """Name the limit of turns."""
    return _counted(limits.max_turns, "turn")


def tool_call_limit(limits: Limits) -> str:
    """Name the limit of tool calls, in a run that has one."""
    return _counted(limits.max_tool_calls or 0, "tool call")


def input_token_limit(limits: Limits) -> str:
    """Name the limit of input tokens, in a run that has one."""
    return _counted(limits.max_input_tokens or 0, "input token")


def output_token_limit(limits: Limits) -> str:
    """Name the limit of output tokens, in a run that has one."""
    return _counted(limits.max_output_tokens or 0, "output token")


def cost_limit(limits: Limits) -> str:
    """Name the limit of dollars, in a run that has one."""
    return f"limit of {dollars(limits.max_cost or Decimal(0))}"


def time_limit(limits: Limits) -> str:
    """Name the limit of time, in a run that has one."""
    return f"time limit of {period(timedelta(seconds=limits.max_seconds or 0))}"


def period(duration: timedelta) -> str:
    """Print a duration in full: `2h`, `1h 30m`, `90.5s` as `1m 30.5s`."""
    minutes, seconds = divmod(duration, timedelta(minutes=1))
    hours, minutes = divmod(minutes, 60)
    exact = f"{seconds.total_seconds():.3f}".rstrip("0").rstrip(".")
    parts = [f"{hours:,}h" * bool(hours), f"{minutes}m" * bool(minutes), f"{exact}s" * (exact != "0")]
    return " ".join(part for part in parts if part) or "0s"


def dollars(amount: Decimal) -> str:
    """Print an amount exactly, with cents at least: `$2.50`, `$0.0005`."""
    whole, _, fraction = f"{amount.normalize():f}".partition(".")
    return f"${int(whole):,}.{fraction:0<2}"


def _reached(limits: Limits, spent: Spent, turns: int) -> Iterator[str]:
    usage = spent.usage
    if turns >= limits.max_turns:
        yield turn_limit(limits)
    if limits.max_tool_calls is not None and spent.tool_calls >= limits.max_tool_calls:
        yield tool_call_limit(limits)
    if limits.max_input_tokens is not None and usage.input_tokens >= limits.max_input_tokens:
        yield input_token_limit(limits)
    if limits.max_output_tokens is not None and usage.output_tokens >= limits.max_output_tokens:
        yield output_token_limit(limits)
    if limits.max_cost is not None and usage.requests and usage.cost is None:
        # A worker that knows no price was to refuse; one of an older version does not.
        yield f"{cost_limit(limits)} (nobody knows what was spent)"
    if limits.max_cost is not None and usage.cost is not None and usage.cost >= limits.max_cost:
        yield cost_limit(limits)
    if time_is_up(limits, spent):
        yield time_limit(limits)
    if (streak := spent.streaks.beyond(limits.failures_in_a_row)) is not None:
        failures = _counted(2 * limits.failures_in_a_row, "failure")
        yield f"{failures} in a row of tool {shown(streak.tool)} with {streak.error_code}"


def _counted(number: int, thing: str) -> str:
    return f"limit of {number:,} {thing}{'' if number == 1 else 's'}"
