"""What is recorded: every way for a run, a turn and a call to go, each by its name."""

from collections.abc import Awaitable, Callable, Mapping

from tests.replay.scenarios import executors, limits, outcomes, turns
from tests.replay.stage import Stage

SCENARIOS: Mapping[str, Callable[[Stage], Awaitable[None]]] = {
    scenario.__name__.replace("_", "-"): scenario
    for scenario in (*turns.SCENARIOS, *outcomes.SCENARIOS, *executors.SCENARIOS, *limits.SCENARIOS)
}
