from collections.abc import Mapping
from dataclasses import asdict

import pytest

from tests.faults.conftest import Once
from tests.faults.level import level_here, reaches_its_worker
from tests.faults.observation import Observation, expected
from tests.faults.worker_cases import WORKER_CASES, WorkerCase
from tests.faults.worker_run import carry_out

pytestmark = pytest.mark.long


@pytest.fixture(scope="session")
def seen(once: Once) -> Mapping[str, Observation]:
    return once("workers", lambda surefoot: carry_out(WORKER_CASES, surefoot))


@pytest.mark.parametrize("one", [pytest.param(one, id=one.case.name) for one in WORKER_CASES])
def test_the_model_is_told_what_happened_to_its_call_and_no_tool_runs_twice(
    one: WorkerCase, seen: Mapping[str, Observation]
) -> None:
    case = one.among(walls=not reaches_its_worker(level_here()))
    assert asdict(seen[case.name]) == expected(case)
