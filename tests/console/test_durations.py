from datetime import datetime, timedelta

import pytest

from console.durations import between, duration
from tests.console.runs import at


@pytest.mark.parametrize(
    ("seconds", "printed"),
    [
        pytest.param(0, "0ms", id="nothing"),
        pytest.param(0.0123, "12ms", id="a moment"),
        pytest.param(0.3, "0.3s", id="part of a second"),
        pytest.param(59.94, "59.9s", id="just below a minute"),
        pytest.param(59.96, "1m 00s", id="a minute by rounding"),
        pytest.param(65, "1m 05s", id="above a minute"),
        pytest.param(3599.6, "1h 00m", id="an hour by rounding"),
        pytest.param(7530, "2h 05m", id="above an hour"),
        pytest.param(93_600, "26h 00m", id="above a day"),
        pytest.param(-3, "0ms", id="clocks that disagree"),
    ],
)
def test_a_duration_is_printed_for_people(seconds: float, printed: str) -> None:
    assert duration(timedelta(seconds=seconds)) == printed


def test_a_start_without_a_zone_counts_as_utc() -> None:
    assert between(datetime(2025, 1, 1, 12), at(2)) == "2.0s"


def test_nobody_knows_how_long_a_call_took_that_never_started() -> None:
    assert between(None, at(2)) is None
