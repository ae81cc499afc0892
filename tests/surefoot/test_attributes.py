from decimal import Decimal
from typing import get_args

import pytest

from surefoot.attributes import AttributeName, AttributeValue, Numbers, changed_attributes, is_worth_telling
from workers.search_attributes import SEARCH_ATTRIBUTES

TOLD: dict[AttributeName, AttributeValue] = {
    "SurefootAgent": "scout",
    "SurefootStatus": "running",
    "SurefootTurns": 10,
    "SurefootFailures": 1,
    "SurefootLastErrorCode": "TOOL_TIMEOUT",
    "SurefootErrorCodes": ("TOOL_TIMEOUT",),
    "SurefootCost": 0.25,
}


def numbers(**changed: object) -> Numbers:
    now = {
        "agent": "scout",
        "turns": 10,
        "failures": 1,
        "last_error_code": "TOOL_TIMEOUT",
        "error_codes": ("TOOL_TIMEOUT",),
        "cost": Decimal("0.25"),
    }
    return Numbers.model_validate({**now, **changed})


def test_the_names_are_those_that_servers_are_given() -> None:
    assert set(get_args(AttributeName)) == set(SEARCH_ATTRIBUTES)


@pytest.mark.parametrize(
    ("now", "worth"),
    [
        pytest.param(numbers(), False, id="nothing is new"),
        pytest.param(numbers(turns=34, failures=9, cost=Decimal(1)), False, id="numbers within 25 turns"),
        pytest.param(numbers(turns=35), True, id="25 turns later"),
        pytest.param(numbers(status="waiting"), True, id="another status"),
        pytest.param(numbers(last_error_code="TOOL_LOST"), True, id="another error code"),
    ],
)
def test_the_server_hears_of_little(now: Numbers, worth: bool) -> None:
    assert is_worth_telling(now, TOLD) is worth


def test_a_run_that_nobody_told_of_is_worth_telling() -> None:
    assert is_worth_telling(Numbers(), {})


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        pytest.param(numbers(), {}, id="nothing"),
        pytest.param(
            numbers(status="completed", turns=11, cost=Decimal("0.5")),
            {"SurefootStatus": "completed", "SurefootTurns": 11, "SurefootCost": 0.5},
            id="some",
        ),
        pytest.param(
            numbers(last_error_code="TOOL_LOST", error_codes=("TOOL_TIMEOUT", "TOOL_LOST")),
            {"SurefootLastErrorCode": "TOOL_LOST", "SurefootErrorCodes": ("TOOL_TIMEOUT", "TOOL_LOST")},
            id="another way to fail",
        ),
        pytest.param(numbers(cost=None), {}, id="a cost that is not known any more"),
    ],
)
def test_only_what_changed_is_told(now: Numbers, changed: dict[str, object]) -> None:
    assert changed_attributes(now, TOLD) == changed


def test_a_run_begins_with_its_agent_its_status_and_no_failure() -> None:
    assert changed_attributes(Numbers(agent="scout"), {}) == {
        "SurefootAgent": "scout",
        "SurefootStatus": "running",
        "SurefootTurns": 0,
        "SurefootFailures": 0,
    }
