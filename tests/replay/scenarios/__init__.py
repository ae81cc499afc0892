"""What is recorded: every way for a run, a turn and a call to go, each by its name."""

from collections.abc import Awaitable, Callable, Mapping

from tests.replay.scenarios import (
    approvals,
    attributes,
    executors,
    limits,
    long_runs,
    notices,
    operators,
    outcomes,
    sessions,
    steering,
    sub_agents,
    turns,
    untrusted,
)
from tests.replay.stage import Stage

_MODULES = (
    turns,
    outcomes,
    executors,
    operators,
    limits,
    long_runs,
    sub_agents,
    steering,
    approvals,
    sessions,
    notices,
    attributes,
    untrusted,
)

SCENARIOS: Mapping[str, Callable[[Stage], Awaitable[None]]] = {
    scenario.__name__.replace("_", "-"): scenario for module in _MODULES for scenario in module.SCENARIOS
}
