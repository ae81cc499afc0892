"""The search attributes of a run, which operators find it by in the server's list."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from surefoot.outcome import ErrorCode
from surefoot.wire import WireModel

AttributeName = Literal[
    "SurefootAgent",
    "SurefootStatus",
    "SurefootTurns",
    "SurefootFailures",
    "SurefootLastErrorCode",
    "SurefootErrorCodes",
    "SurefootCost",
]

AttributeValue = str | int | float | tuple[str, ...]
"""What the server keeps of one; a list of keywords is a tuple."""

LiveStatus = Literal["running", "waiting", "paused"]
Status = Literal[LiveStatus, "completed", "limit_reached", "failed", "cancelled"]

TURNS_BETWEEN = 25
"""How many turns the numbers may lag behind: each time that they are told costs some 250 bytes of history."""


class Numbers(WireModel):
    """What a run is found by, as it is at one moment."""

    agent: str | None = None
    status: Status = "running"
    turns: int = 0
    failures: int = 0
    last_error_code: ErrorCode | None = None
    error_codes: tuple[ErrorCode, ...] = ()
    """Each that a call failed with, once; empty where the server has no attribute for them."""
    cost: Decimal | None = None


def is_worth_telling(now: Numbers, told: Mapping[AttributeName, AttributeValue]) -> bool:
    """Decide whether the server is to hear of it, who knows what is `told`."""
    return (
        now.status != told.get("SurefootStatus")
        or now.last_error_code != told.get("SurefootLastErrorCode")
        or now.turns - _number(told.get("SurefootTurns")) >= TURNS_BETWEEN
    )


def changed_attributes(
    now: Numbers, told: Mapping[AttributeName, AttributeValue]
) -> Mapping[AttributeName, AttributeValue]:
    """Give those that differ from what is told; a value that is not known is never told."""
    values: dict[AttributeName, AttributeValue | None] = {
        "SurefootAgent": now.agent,
        "SurefootStatus": now.status,
        "SurefootTurns": now.turns,
        "SurefootFailures": now.failures,
        "SurefootLastErrorCode": now.last_error_code,
        "SurefootErrorCodes": now.error_codes or None,
        "SurefootCost": None if now.cost is None else float(now.cost),
    }
    return {name: value for name, value in values.items() if value is not None and value != told.get(name)}


def _number(value: AttributeValue | None) -> float:
    return value if isinstance(value, int | float) else 0
