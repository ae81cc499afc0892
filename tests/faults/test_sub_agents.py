from collections.abc import Mapping
from dataclasses import asdict

import pytest

from tests.faults.conftest import Once
from tests.faults.observation import Observation, expected
from tests.faults.sub_agent_cases import SUB_AGENT_CASES, SubAgentCase
from tests.faults.sub_agent_run import carry_out

pytestmark = pytest.mark.long


@pytest.fixture(scope="session")
def seen(once: Once) -> Mapping[str, Observation]:
    return once("sub-agents", lambda surefoot: carry_out(SUB_AGENT_CASES, surefoot))


@pytest.mark.parametrize("one", [pytest.param(one, id=one.case.name) for one in SUB_AGENT_CASES])
def test_the_model_is_told_what_became_of_an_agent_and_nothing_of_it_lives_on(
    one: SubAgentCase, seen: Mapping[str, Observation]
) -> None:
    assert asdict(seen[one.case.name]) == expected(one.case)
