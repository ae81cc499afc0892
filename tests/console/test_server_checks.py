from datetime import timedelta

import pytest

from console.findings import Verdict
from console.server_checks import clock_finding


@pytest.mark.parametrize(
    ("ahead", "verdict", "said"),
    [
        pytest.param(timedelta(0), Verdict.OK, "within 0.1s of the server's", id="none"),
        pytest.param(timedelta(seconds=-2), Verdict.OK, "within 2.0s of the server's", id="a little"),
        pytest.param(timedelta(seconds=90), Verdict.WARN, "is 90s behind the server's", id="behind"),
        pytest.param(timedelta(hours=-1), Verdict.WARN, "is 3600s ahead of the server's", id="ahead"),
        pytest.param(None, Verdict.WARN, "does not tell its time", id="unknown"),
    ],
)
def test_a_clock_that_is_off_is_told(ahead: timedelta | None, verdict: Verdict, said: str) -> None:
    finding = clock_finding(ahead)

    assert (finding.verdict, said in finding.sentence) == (verdict, True)
