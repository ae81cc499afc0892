from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from surefoot.limits import Limits
from surefoot.run import Pause, RaiseLimit, Resume
from surefoot.steering import Hold, Steering, raised, why_not_raised

LIMITS = Limits(max_turns=50, max_tool_calls=10, max_cost="2.50", max_seconds=90)  # pyright: ignore[reportArgumentType]  as people write it
PAUSED, WAITING = Hold(status="paused"), Hold(status="waiting", reason="401")
NAMES = (
    "max_turns, max_tool_calls, max_input_tokens, max_output_tokens, max_cost, max_seconds, failures_in_a_row"
)


@pytest.mark.parametrize(
    ("wanted", "why_not"),
    [
        pytest.param({"max_turns": 51}, None, id="up"),
        pytest.param({"max_turns": "60", "failures_in_a_row": 6}, None, id="two, one of them as text"),
        pytest.param({"max_tool_calls": None, "max_cost": None}, None, id="lifted"),
        pytest.param({"max_cost": 2.51}, None, id="a cent more"),
        pytest.param({}, f"no limit is named; there are: {NAMES}", id="none"),
        pytest.param({"max_turn": 60}, f"there is no limit 'max_turn'; there are: {NAMES}", id="a typo"),
        pytest.param({"max_turns": 50}, "max_turns is 50 already, and limits only go up", id="the same"),
        pytest.param(
            {"max_turns": 60, "max_seconds": 30},
            "max_seconds is 90 already, and limits only go up",
            id="one of two down",
        ),
        pytest.param(
            {"max_input_tokens": 5},
            "max_input_tokens has no limit, and gets none: limits only go up",
            id="none before",
        ),
        pytest.param(
            {"max_input_tokens": None},
            "max_input_tokens has no limit, and gets none: limits only go up",
            id="lifted before",
        ),
        pytest.param(
            {"max_turns": None}, "max_turns: Input should be a valid integer", id="one that every run has"
        ),
        pytest.param({"max_turns": {"n": 1}}, "max_turns: Input should be a valid integer", id="no number"),
        pytest.param({"max_cost": "much"}, "max_cost: Input should be a valid decimal", id="no amount"),
    ],
)
def test_a_limit_may_go_up_or_be_lifted(wanted: Mapping[str, JsonValue], why_not: str | None) -> None:
    assert why_not_raised(LIMITS, wanted) == why_not


def test_what_is_not_named_stays() -> None:
    assert raised(LIMITS, {"max_turns": 60}) == LIMITS.model_copy(update={"max_turns": 60})


@pytest.mark.parametrize(
    ("hold", "closed", "pause", "resume"),
    [
        pytest.param(None, None, None, "the run is not paused", id="at work"),
        pytest.param(PAUSED, None, "the run is paused already", None, id="paused"),
        pytest.param(
            WAITING, None, "the run waits for its model already; resume lets it ask again", None, id="waiting"
        ),
        pytest.param(None, "it closes", "it closes", "the run is not paused", id="closing"),
        pytest.param(
            WAITING,
            "it closes",
            "the run waits for its model already; resume lets it ask again",
            None,
            id="waiting in its closing turn",
        ),
    ],
)
def test_a_run_is_paused_once_and_resumed_once(
    hold: Hold | None, closed: str | None, pause: str | None, resume: str | None
) -> None:
    steering = Steering(hold)

    assert (steering.why_no_pause(Pause(), closed=closed), steering.why_no_resume(Resume())) == (
        pause,
        resume,
    )


@pytest.mark.parametrize(
    ("reason", "sender", "why_not"),
    [
        pytest.param("r" * 2_000, "s" * 200, None, id="as long as they may be"),
        pytest.param("r" * 2_001, None, "the reason is longer than 2,000 characters", id="a long reason"),
        pytest.param(
            None, "s" * 201, "the sender's name is longer than 200 characters", id="a long sender's name"
        ),
        pytest.param(
            "\ud800",
            None,
            "the reason or the sender's name holds bytes that are no UTF-8",
            id="half a character",
        ),
    ],
)
def test_who_and_why_are_short_texts(reason: str | None, sender: str | None, why_not: str | None) -> None:
    request = Pause.model_construct(reason=reason, sender=sender)
    wanted = RaiseLimit.model_construct(limits={"max_turns": 60}, reason=reason, sender=sender)
    steering = Steering(limits=LIMITS)

    assert (steering.why_no_pause(request, closed=None), steering.why_no_raise(wanted, closed=None)) == (
        why_not,
        why_not,
    )


def test_a_model_that_is_away_does_not_resume_what_somebody_paused() -> None:
    paused = Steering().pause(Pause(reason="wait"))

    assert paused.wait_for_model("401").going == "paused"
    assert (Steering().wait_for_model("401").going, paused.resume().going) == ("waiting", "running")
