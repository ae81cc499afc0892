import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.breaker import FailureStreaks, Streak, shown, warning_text
from surefoot.conversation import Message, ToolMessage, UserMessage
from surefoot.failures import crashed, interrupted, not_found
from surefoot.outcome import ToolSuccess

WARNING = UserMessage(text="w", purpose="warning")


def crash(tool: str = "a") -> ToolMessage:
    return ToolMessage(call_id="1", tool=tool, outcome=crashed(tool, 1))


def other_failure(tool: str = "a") -> ToolMessage:
    return ToolMessage(call_id="1", tool=tool, outcome=interrupted(tool))


def success(tool: str = "a") -> ToolMessage:
    return ToolMessage(call_id="1", tool=tool, outcome=ToolSuccess(tool=tool, result=None))


def after(*messages: Message) -> FailureStreaks:
    streaks = FailureStreaks()
    for message in messages:
        streaks = streaks.after(message)
    return streaks


def streak(failures: int, warned_at: int = 0, tool: str = "a") -> Streak:
    return Streak(tool=tool, error_code="TOOL_CRASHED", failures=failures, warned_at=warned_at)


INTERRUPTED = Streak(tool="a", error_code="TOOL_INTERRUPTED")


@pytest.mark.parametrize(
    ("messages", "streaks"),
    [
        pytest.param([], (), id="nothing"),
        pytest.param([success()], (), id="a success"),
        pytest.param([crash()] * 3, (streak(3),), id="three in a row"),
        pytest.param([crash(), success(), crash()], (streak(1),), id="a success in between"),
        pytest.param([crash(), crash(), success()], (), id="a success at last"),
        pytest.param([crash(), crash(), other_failure()], (INTERRUPTED,), id="another error code"),
        pytest.param([crash(), other_failure(), crash()], (streak(1),), id="two error codes in turn"),
        pytest.param([crash(), success("b"), crash()], (streak(2),), id="a success of another tool"),
        pytest.param(
            [crash(), crash("b"), crash()],
            (streak(1, tool="b"), streak(2)),
            id="two tools, the last at the end",
        ),
        pytest.param([crash(), UserMessage(text="u"), crash()], (streak(2),), id="something said"),
        pytest.param([crash(), crash(), WARNING, crash()], (streak(3, warned_at=2),), id="a warning"),
        pytest.param([crash(), WARNING, success(), crash()], (streak(1),), id="a warning that helped"),
    ],
)
def test_a_streak_is_the_same_tool_failing_in_the_same_way(
    messages: list[Message], streaks: tuple[Streak, ...]
) -> None:
    assert after(*messages).streaks == streaks


@pytest.mark.parametrize(
    ("failing", "to_warn_of", "ends"),
    [
        pytest.param(streak(1), False, False, id="one"),
        pytest.param(streak(2), True, False, id="as many as the limit"),
        pytest.param(streak(3, warned_at=2), False, False, id="one more in spite of the warning"),
        pytest.param(streak(4, warned_at=2), False, True, id="twice the limit"),
        pytest.param(streak(9), True, False, id="many at once, without a warning"),
        pytest.param(streak(9, warned_at=9), False, False, id="many at once, and warned of them"),
        pytest.param(streak(10, warned_at=9), False, True, id="many at once, warned, and one more"),
        pytest.param(streak(3, warned_at=1), True, False, id="warned of another tool's"),
    ],
)
def test_the_model_is_warned_at_the_limit_and_the_run_ends_at_twice_that(
    failing: Streak, to_warn_of: bool, ends: bool
) -> None:
    streaks = FailureStreaks(streaks=(streak(1, tool="b"), failing))
    assert streaks.to_warn_of(2) == ((failing,) if to_warn_of else ())
    assert streaks.beyond(2) == (failing if ends else None)


MESSAGES = st.sampled_from([make(tool) for make in (crash, crash, other_failure, success) for tool in "ab"])
TOOL_MESSAGES = st.lists(MESSAGES, max_size=40)


@given(messages=TOOL_MESSAGES, limit=st.integers(1, 4))
def test_one_by_one_a_streak_is_warned_of_exactly_at_its_limit_and_ends_exactly_at_twice_that(
    messages: list[ToolMessage], limit: int
) -> None:
    streaks = FailureStreaks()
    for message in messages:
        streaks = streaks.after(message)
        assert all(one.failures == limit for one in streaks.to_warn_of(limit))
        if (last := streaks.beyond(limit)) is not None:
            assert last.failures == 2 * limit
            return
        assert all(one.failures < 2 * limit for one in streaks.streaks)
        if streaks.to_warn_of(limit):
            streaks = streaks.after(WARNING)


@given(messages=TOOL_MESSAGES)
def test_a_streak_is_as_long_as_the_end_of_its_tools_outcomes_that_is_alike(
    messages: list[ToolMessage],
) -> None:
    for tool in "ab":
        alike = 0
        codes = [getattr(m.outcome, "error_code", None) for m in messages if m.tool == tool]
        while alike < len(codes) and codes[-1] is not None and codes[-1 - alike] == codes[-1]:
            alike += 1
        found = [one for one in after(*messages).streaks if one.tool == tool]
        assert [one.failures for one in found] == ([alike] if alike else [])


def test_tools_that_a_model_makes_up_take_no_room_for_ever() -> None:
    made_up = [ToolMessage(call_id="1", tool=f"t{n}", outcome=not_found(f"t{n}", [])) for n in range(1_000)]
    kept = after(*made_up).streaks
    assert [one.tool for one in kept] == [f"t{n}" for n in range(936, 1_000)]


def test_a_streak_survives_json() -> None:
    streaks = after(crash(), WARNING, crash("b"))
    assert FailureStreaks.model_validate_json(streaks.model_dump_json()) == streaks


def test_several_tools_are_warned_of_in_one_sentence() -> None:
    text = warning_text((streak(5), streak(1_000, tool="b")), 5)
    assert text.startswith(
        "Tool 'a' has failed 5 times in a row with TOOL_CRASHED; "
        "tool 'b' has failed 1,000 times in a row with TOOL_CRASHED. Do not repeat"
    )


def test_a_long_name_that_a_model_made_up_is_cut() -> None:
    assert shown("x" * 200) == f"'{'x' * 64}…'"
