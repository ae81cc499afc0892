from collections.abc import Mapping
from dataclasses import asdict

import pytest

from tests.faults.case import Case
from tests.faults.cases import CASES, GROUPS
from tests.faults.conftest import Once
from tests.faults.observation import Observation, expected
from tests.faults.shared_run import carry_out


@pytest.fixture(scope="session")
def seen(once: Once) -> Mapping[str, Observation]:
    return once("tool-calls", lambda surefoot: carry_out(GROUPS, surefoot))


def test_no_two_cases_are_called_the_same() -> None:
    tools = [case.tool for case in CASES if case.called is None]
    assert (len({case.name for case in CASES}), len(set(tools))) == (len(CASES), len(tools))


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_model_is_told_what_happened_and_nothing_of_the_call_lives_on(
    case: Case, seen: Mapping[str, Observation]
) -> None:
    assert asdict(seen[case.name]) == expected(case)
