import os
import sys
from errno import EAGAIN, ENOENT
from pathlib import Path

import pytest

from activities.tools.start_failure import start_failure


@pytest.mark.parametrize(
    ("number", "missing", "reason"),
    [
        pytest.param(
            ENOENT,
            sys.executable,
            f"its supervisor could not be started with {sys.executable}: No such file or directory",
            id="the worker's Python is gone",
        ),
        pytest.param(EAGAIN, None, "Resource temporarily unavailable", id="too many processes"),
    ],
)
def test_what_is_not_the_tools_fault_is_told_as_such(number: int, missing: str | None, reason: str) -> None:
    error = OSError(number, os.strerror(number), missing)
    assert start_failure(error, executable=Path("/bin/true"), directory=Path("/")) == (126, reason)
