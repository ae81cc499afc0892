from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.limits import Limits
from surefoot.shared_budget import NothingLeft, Share, child_limits, shares
from surefoot.spent import Spent
from surefoot.usage import BILLIONTH, Usage

CALLER = Limits(
    max_tool_calls=20, max_input_tokens=1_000, max_output_tokens=100, max_cost=Decimal(1), max_seconds=60
)
SPENT = Spent(
    tool_calls=5, usage=Usage(requests=1, input_tokens=100, output_tokens=99, cost=Decimal("0.999999998"))
)


def test_what_is_left_is_divided_and_what_cannot_be_halved_goes_to_the_first() -> None:
    assert shares(CALLER, SPENT, calls=4, agents=2) == (
        Share(tool_calls=6, input_tokens=450, output_tokens=1, cost=BILLIONTH),
        Share(tool_calls=5, input_tokens=450, output_tokens=0, cost=BILLIONTH),
    )


def test_what_has_no_limit_is_not_divided() -> None:
    assert shares(Limits(), SPENT, calls=1, agents=1) == (Share(),)


def test_nothing_is_left_of_a_cost_that_nobody_knows() -> None:
    unknown = Spent(usage=Usage(requests=1))
    assert [one.cost for one in shares(Limits(max_cost=Decimal(1)), unknown, calls=1, agents=1)] == [0]


def test_an_agent_gets_the_smaller_of_its_own_and_its_share() -> None:
    own = Limits(max_turns=7, max_tool_calls=3, max_output_tokens=5, max_seconds=3_600, failures_in_a_row=2)
    share = Share(tool_calls=6, input_tokens=450, output_tokens=9, cost=Decimal("0.5"))

    assert child_limits(own, share, caller=CALLER, elapsed_seconds=20) == Limits(
        max_turns=7,
        max_tool_calls=3,
        max_input_tokens=450,
        max_output_tokens=5,
        max_cost=Decimal("0.5"),
        max_seconds=40,
        failures_in_a_row=2,
    )


@pytest.mark.parametrize(
    ("share", "elapsed_seconds", "limit"),
    [
        pytest.param(Share(tool_calls=0), 0, "limit of 20 tool calls", id="tool calls"),
        pytest.param(Share(input_tokens=0), 0, "limit of 1,000 input tokens", id="input tokens"),
        pytest.param(Share(output_tokens=0), 0, "limit of 100 output tokens", id="output tokens"),
        pytest.param(Share(cost=Decimal(0)), 0, "limit of $1.00", id="dollars"),
        pytest.param(Share(), 60, "time limit of 1m", id="time"),
    ],
)
def test_an_agent_for_which_nothing_is_left_is_not_called(
    share: Share, elapsed_seconds: float, limit: str
) -> None:
    found = child_limits(Limits(), share, caller=CALLER, elapsed_seconds=elapsed_seconds)
    assert found == NothingLeft(limit)


@dataclass(frozen=True)
class Turn:
    """What a model spends in one turn, and the agents that it calls in it, beside so many other calls."""

    tokens: int
    other_calls: int
    agents: "tuple[Agent, ...]"


@dataclass(frozen=True)
class Agent:
    """An agent: its own limits, and what its model does turn by turn if it is not stopped."""

    own: Limits
    turns: tuple[Turn, ...]
    closing_tokens: int


def agents(called: "st.SearchStrategy[tuple[Agent, ...]]") -> "st.SearchStrategy[Agent]":
    turn = st.builds(Turn, tokens=st.integers(0, 50), other_calls=st.integers(0, 4), agents=called)
    limits = st.builds(
        Limits,
        max_tool_calls=st.integers(1, 50) | st.none(),
        max_input_tokens=st.integers(1, 500) | st.none(),
    )
    turns = st.lists(turn, max_size=4).map(tuple)
    return st.builds(Agent, own=limits, turns=turns, closing_tokens=st.integers(0, 50))


AGENTS = st.recursive(
    agents(st.just(())), lambda deeper: agents(st.lists(deeper, max_size=3).map(tuple)), max_leaves=8
)


def reached(limit: int | None, spent: int) -> bool:
    return limit is not None and spent >= limit


def play(agent: Agent, limits: Limits) -> tuple[Spent, int]:
    """Give what a run and its agents spend as a run does, and what all of them could not be stopped from.

    That is, of each run that reaches its limit of tokens, the turn in which it did and its closing turn.
    """
    spent, beyond = Spent(), 0
    for turn in agent.turns:
        if reached(limits.max_tool_calls, spent.tool_calls) or reached(
            limits.max_input_tokens, spent.usage.input_tokens
        ):
            return with_tokens(spent, agent.closing_tokens), beyond + agent.closing_tokens
        spent = with_tokens(spent, turn.tokens)
        if reached(limits.max_input_tokens, spent.usage.input_tokens):
            beyond += turn.tokens
        wanted = turn.other_calls + len(turn.agents)
        left = wanted if limits.max_tool_calls is None else limits.max_tool_calls - spent.tool_calls
        called = turn.agents[: max(left, 0)]
        made = min(wanted, max(left, 0))
        ended: list[Spent] = []
        for child, share in zip(called, shares(limits, spent, calls=made, agents=len(called)), strict=True):
            given_limits = child_limits(child.own, share, caller=limits, elapsed_seconds=0)
            if isinstance(given_limits, NothingLeft):
                made -= 1
                continue
            used, more = play(child, given_limits)
            ended.append(used)
            beyond += more
        spent = spent.with_calls(made + sum(one.tool_calls for one in ended))
        spent = with_tokens(spent, sum(one.usage.input_tokens for one in ended))
    return spent, beyond


def with_tokens(spent: Spent, tokens: int) -> Spent:
    return spent.model_copy(update={"usage": spent.usage + Usage(requests=1, input_tokens=tokens)})


@given(root=AGENTS)
def test_a_tree_of_runs_spends_what_its_root_may_and_what_no_run_can_be_stopped_from(root: Agent) -> None:
    spent, beyond = play(root, root.own)

    if root.own.max_tool_calls is not None:
        assert spent.tool_calls <= root.own.max_tool_calls
    if root.own.max_input_tokens is not None:
        assert spent.usage.input_tokens <= root.own.max_input_tokens + beyond
