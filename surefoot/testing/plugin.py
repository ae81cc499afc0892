"""The pytest plugin: the fixture `surefoot_environment`, and transcripts in the reports of failed tests."""

import asyncio
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from surefoot.testing.environment import Environment

FIXTURE = "surefoot_environment"


@pytest.fixture
def surefoot_environment(tmp_path: Path) -> "Generator[Environment]":
    """Give a Temporal server of this test's own that skips time; tools on disk run in `tmp_path`."""
    # Imported only here: pytest loads its plugins for every test run there is.
    from surefoot.testing.environment import start_environment

    # Not a fixture of one plugin for asynchronous tests: it serves all of them, and `asyncio.run` too.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        environment = runner.run(start_environment(tmp_path))
        yield environment
        runner.run(environment.server.shutdown())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what happened in the runs of a test that failed."""
    report = yield
    environment: Environment | None = getattr(item, "funcargs", {}).get(FIXTURE)
    if environment is not None and call.when == "call" and report.failed:
        for n, run in enumerate(environment.finished, 1):
            report.sections.append((f"surefoot run {n}", str(run.transcript)))
    return report
