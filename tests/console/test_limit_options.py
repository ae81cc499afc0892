from decimal import Decimal

import pytest
import typer

from console.limit_options import read_dollars, read_period


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1_800),
        ("2h", 7_200),
        ("1h30m", 5_400),
        ("2d", 172_800),
        ("0.5s", 0.5),
        ("1.5h", 5_400),
    ],
)
def test_a_time_is_numbers_with_units(text: str, seconds: float) -> None:
    assert read_period(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "90", "2 h", "h", "-1s", "1y", "1e3s", "1h 30m", "٣s", "0s", "36601d", "9" * 400 + "s"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        read_period(text)


@pytest.mark.parametrize(
    ("text", "amount"), [("2.50", "2.5"), ("$3", "3"), ("0.001", "0.001"), ("1000000", "1e6")]
)
def test_an_amount_is_a_number_of_dollars(text: str, amount: str) -> None:
    assert read_dollars(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "free", "0", "-1", "nan", "inf", "2 €", "1,5", "1000001", "1e-400"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        read_dollars(text)
