"""What a run is doing, in markdown: an operator reads in the server's UI what it says at this moment."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache

from surefoot.budget import dollars, period
from surefoot.limits import Limits
from surefoot.markdown import code
from surefoot.progress import Call, Progress
from surefoot.spent import Spent
from surefoot.strict_json import encode_json
from surefoot.usage import Usage

MAX_DETAILS_BYTES = 4_096

_MOST_NAMED = 6
_MOST_AWAITED = 4
_NO_TIME = timedelta()


@dataclass(frozen=True)
class Budget:
    """What a run may spend and what it has spent, its turns apart."""

    limits: Limits
    spent: Spent
    turns: int


def current_details(progress: Progress, budget: Budget, *, agent: str | None, model: str) -> str:
    """Say in at most 4 KiB of markdown where a run stands; text of any origin stays in its place."""
    text = "\n\n".join(_parts(progress, budget, agent=agent, model=model))
    while len(text.encode()) > MAX_DETAILS_BYTES:
        text = text[: text.rindex("\n")]
    return text.rstrip()


def _parts(progress: Progress, budget: Budget, *, agent: str | None, model: str) -> Iterator[str]:
    yield f"**{_head(progress, model)}**"
    whose = f"agent {code(agent)} · " if agent else ""
    walls = f" · sandbox {code(progress.sandbox)}" if progress.sandbox else ""
    failed = _count(progress.failures, "failed call")
    yield f"{whose}turn {progress.turn:,} · {failed}{walls}{_as_of(progress.time)}"
    if progress.awaiting_approval:
        yield "\n".join(["**Waits for approval**", "", *_awaited(progress.awaiting_approval)])
    if (failure := progress.last_failure) is not None:
        where = f"`{failure.tool_exec_id}` {failure.error_code}"
        yield f"**Last failure** {where}: {code(failure.error, 300)}"
    if (source := progress.untrusted) is not None:
        yield f"**Untrusted content** first came from {code(source.tool)} in call `{source.tool_exec_id}`"
    yield f"**Spent** {' · '.join(_spent(budget))}"
    if progress.running or progress.recent:
        head = ["| call | tool and arguments | outcome | time |", "|---|---|---|---|"]
        yield "\n".join([*head, *_calls(progress)])


def _head(progress: Progress, model: str) -> str:
    if (ended := progress.ended) is not None:
        why = f": {code(ended.error, 300)}" if ended.error else ""
        return f"{_ENDED[ended.status]}{why}"
    if progress.paused is not None:
        why = f": {code(progress.paused, 200)}" if progress.paused else ""
        return f"Paused{why}"
    if progress.model_away is not None:
        return f"Waits for its model, until it is resumed: {code(progress.model_away, 300)}"
    if progress.awaiting_approval:
        return f"Waits for approval of {_count(len(progress.awaiting_approval), 'call')}"
    if progress.waiting_for is not None:
        return f"Waits for {code(progress.waiting_for)}"
    if progress.running:
        return f"Runs {_named(progress.running)}"
    return f"Asks {code(model)}" if progress.asking else "Decides what comes next"


_ENDED = {
    "completed": "Completed",
    "limit_reached": "Limit reached",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def _named(calls: tuple[Call, ...]) -> str:
    named = [code(call.tool) for call in calls[:_MOST_NAMED]]
    more = len(calls) - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])])


def _awaited(calls: tuple[Call, ...]) -> Iterator[str]:
    for call in calls[:_MOST_AWAITED]:
        decision = encode_json({"tool_exec_id": call.tool_exec_id, "params_sha256": call.params_sha256})
        signed = " and a token, as `surefoot approve … --print` prints it" if call.signed else ""
        asked = f"{code(call.tool)} {code(call.arguments, 400)}"
        yield f"- {asked}: send the update `approve` with `{decision}`{signed}"
    if (more := len(calls) - _MOST_AWAITED) > 0:
        yield f"- {more} more"


def _spent(budget: Budget) -> Iterator[str]:
    """Tell of each limit that is set how much of it is used."""
    limits, spent, usage = budget.limits, budget.spent, budget.spent.usage
    yield f"{budget.turns:,} of {limits.max_turns:,} turns"
    yield from _counted("tool calls", spent.tool_calls, limits.max_tool_calls)
    yield from _counted("input tokens", usage.input_tokens, limits.max_input_tokens)
    yield from _counted("output tokens", usage.output_tokens, limits.max_output_tokens)
    if limits.max_cost is not None:
        yield f"{_cost(usage)} of {code(dollars(limits.max_cost))}"
    elif usage.cost is not None:
        yield _cost(usage)
    if limits.max_seconds is not None:
        used = period(timedelta(seconds=round(spent.elapsed_seconds)))
        yield f"{used} of {period(timedelta(seconds=limits.max_seconds))}"


def _counted(things: str, used: int, limit: int | None) -> Iterator[str]:
    if limit is not None:
        yield f"{used:,} of {limit:,} {things}"


def _cost(usage: Usage) -> str:
    # The UI takes what stands between two dollar signs for a formula, but not in code.
    unknown = usage.cost is None and usage.requests
    return "an unknown cost" if unknown else code(dollars(usage.cost or Decimal(0)))


def _calls(progress: Progress) -> Iterator[str]:
    """Tell of those that run first, and then of the newest."""
    for call in progress.running[:_MOST_NAMED]:
        yield _row(call.tool_exec_id, _asked(call), "runs", f"since {_clock(call.since)}")
    for call in reversed(progress.recent):
        took = call.ended - call.since if call.ended is not None else _NO_TIME
        yield _ended_row(call.tool_exec_id, _asked(call), call.error_code or "ok", took)


# What has ended is shown again with every step of its run, and of hundreds of runs at a time.
@lru_cache(maxsize=4_096)
def _ended_row(tool_exec_id: str, asked: str, outcome: str, took: timedelta) -> str:
    """Print a call that has ended; one that was refused took no time."""
    milliseconds = timedelta(milliseconds=round(took.total_seconds() * 1_000))
    return _row(tool_exec_id, asked, outcome, period(milliseconds) if took else "—")


def _row(tool_exec_id: str, asked: str, outcome: str, time: str) -> str:
    return f"| {tool_exec_id} | {code(asked)} | {outcome} | {time} |"


def _asked(call: Call) -> str:
    return f"{call.tool} • {call.arguments}" if call.arguments else call.tool


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _as_of(time: datetime | None) -> str:
    return "" if time is None else f" · as of {_clock(time)} UTC"


def _clock(time: datetime) -> str:
    return f"{time:%H:%M:%S}"
