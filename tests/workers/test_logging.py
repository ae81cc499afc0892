import io
import json
import logging
import sys
from collections.abc import Generator
from typing import Any

import pytest
import structlog
from temporalio.exceptions import ApplicationError

from workers.logging import configure_logging


@pytest.fixture(autouse=True)
def root() -> Generator[logging.Logger]:
    """Logging as this process had it."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:], logger.level = handlers, level
    structlog.reset_defaults()


def log_failure(error: Exception) -> None:
    try:
        raise error
    except (ApplicationError, KeyError):
        logging.getLogger("temporalio.activity").warning("Completing activity as failed", exc_info=True)


def logged(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_model_in_trouble_is_one_line_without_a_traceback() -> None:
    stream = io.StringIO()
    configure_logging(stream=stream)

    log_failure(ApplicationError("overloaded", type="MODEL_UNAVAILABLE"))

    (line,) = logged(stream)
    assert line.pop("time")
    assert line == {
        "event": "Completing activity as failed: overloaded",
        "level": "warning",
        "logger": "temporalio.activity",
    }


def test_whoever_only_wants_warnings_is_not_told_what_the_run_tells() -> None:
    stream = io.StringIO()
    configure_logging(logging.WARNING, stream=stream)

    log_failure(ApplicationError("overloaded", type="MODEL_UNAVAILABLE"))

    assert logged(stream) == []


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(KeyError("a"), id="a bug of ours"),
        pytest.param(ApplicationError("odd", type="SOMETHING"), id="an error of a type that nobody foresaw"),
    ],
)
def test_what_nobody_foresaw_is_logged_with_its_traceback(error: Exception) -> None:
    stream = io.StringIO()
    configure_logging(logging.WARNING, stream=stream)

    log_failure(error)

    assert "Traceback" in logged(stream)[0]["exception"]


def test_a_log_goes_to_what_stderr_is_at_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    configure_logging()
    later = io.StringIO()
    monkeypatch.setattr(sys, "stderr", later)

    logging.getLogger("any").warning("here")

    assert logged(later)[0]["event"] == "here"
