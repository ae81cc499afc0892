from collections import Counter
from pathlib import Path

import pytest

from bench.chaos_audit import SideEffects, audit, read_side_effects
from bench.chaos_evidence import Evidence, Told
from bench.chaos_plan import PlannedCall, PlannedRun, PlannedTurn
from surefoot import failures
from surefoot.outcome import Acted, ToolFailure, ToolSuccess

CALL = "run-0/1-1"
DONE = ToolSuccess(tool="steady", result={"done": True})
LOST = failures.lost("steady")
NOT_TAKEN = failures.not_found_on_executor("steady")
NEVER_RAN = failures.not_started("steady", 127, "no such file")


def planned() -> PlannedRun:
    return PlannedRun("run-0", at=0, turns=(PlannedTurn(0, (PlannedCall("steady", 0.1),)),))


def told(
    outcome: ToolSuccess | ToolFailure = DONE, *, call: str = CALL, acted: Acted | None = None, times: int = 1
) -> Told:
    return Told(call, outcome, acted, times)


def bad(
    *tellings: Told,
    started: int = 1,
    finished: int = 1,
    status: str = "completed",
    replay_problem: str | None = None,
) -> list[str]:
    """Give the names of the figures that are bad for one run with one call."""
    one = Evidence("run-0", status, tellings, replay_problem)
    noted = SideEffects(Counter([CALL] * started), Counter([CALL] * finished))
    return [figure.name for figure in audit([planned()], [one], noted) if figure.bad]


@pytest.mark.parametrize(
    ("telling", "started", "finished"),
    [
        pytest.param(told(), 1, 1, id="a success that was one"),
        pytest.param(told(LOST, acted="unknown"), 1, 0, id="lost on the way"),
        pytest.param(told(LOST, acted="unknown"), 1, 1, id="lost, and yet it finished"),
        pytest.param(told(LOST, acted="unknown"), 0, 0, id="lost before it started"),
    ],
)
def test_a_kept_promise_is_not_bad(telling: Told, started: int, finished: int) -> None:
    assert bad(telling, started=started, finished=finished) == []


@pytest.mark.parametrize(
    ("found", "figures"),
    [
        pytest.param(bad(told(), status="no end"), ["runs that ended completed"], id="a lost run"),
        pytest.param(bad(), ["calls with exactly one outcome"], id="a call without an outcome"),
        pytest.param(
            bad(told(), told(LOST, acted="unknown")),
            ["calls with exactly one outcome"],
            id="a call with two outcomes",
        ),
        pytest.param(
            bad(told(times=0)), ["calls with exactly one outcome"], id="an outcome that the model never saw"
        ),
        pytest.param(
            bad(told(), started=2), ["calls that started, once each"], id="a tool that was executed twice"
        ),
        pytest.param(
            bad(told(), finished=0), ["successes whose tool finished"], id="a success that did not happen"
        ),
        pytest.param(
            bad(told(NOT_TAKEN, acted="no")),
            ['"it never acted", and it did not', "outcomes that fit their tool"],
            id="a call that started and is said to have been refused",
        ),
        pytest.param(
            bad(told(NEVER_RAN, acted="no")),
            ['"it never acted", and it did not', "outcomes that fit their tool"],
            id="a call that started and is said not to have",
        ),
        pytest.param(
            bad(told(failures.crashed("steady", 1), acted="unknown")),
            ["outcomes that fit their tool"],
            id="a crash of a tool that does not crash",
        ),
        pytest.param(
            bad(told(), replay_problem="non-determinism"),
            ["histories that replay"],
            id="a history that does not replay",
        ),
    ],
)
def test_a_broken_promise_is_found(found: list[str], figures: list[str]) -> None:
    assert found == figures


def test_a_call_that_nobody_asked_for_is_found_on_disk_and_in_the_ledger() -> None:
    noted = SideEffects(Counter({CALL: 1, "run-0/9-9": 1}), Counter({CALL: 1}))
    evidence = Evidence("run-0", "completed", (told(), told(LOST, call="run-0/8-8", acted="unknown")))
    problems = [problem for figure in audit([planned()], [evidence], noted) for problem in figure.bad[:1]]
    assert [problem.split(" ")[0] for problem in problems] == ["run-0/8-8:", "run-0/9-9:", "run-0/8-8"]


def test_side_effects_are_counted_by_call_and_what_is_no_note_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "side-effects"
    file.write_text("a started\nb started\na finished\nb star")
    assert read_side_effects(file) == SideEffects(
        Counter({"a": 1, "b": 1}), Counter({"a": 1}), unreadable=("b star",)
    )
