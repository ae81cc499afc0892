import fcntl
import json
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.faults.level import level_here
from tests.faults.observation import Observation
from tests.faults.table import from_json, table, to_json

SEEN = pytest.StashKey[dict[str, Observation]]()

Once = Callable[[str, Callable[[Surefoot], dict[str, Observation]]], dict[str, Observation]]
"""Carries out a named set of cases, if nobody did in this test session, and gives what was seen."""


@pytest.fixture(scope="session")
def once(
    server: RealServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Generator[Once]:
    # Several test processes may share one session: the first one does the work, in the directory of all.
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent
    started: list[Surefoot] = []

    def carry_out(name: str, work: Callable[[Surefoot], dict[str, Observation]]) -> dict[str, Observation]:
        def observe() -> dict[str, Observation]:
            commands = Surefoot(tmp_path_factory.mktemp(name), state_home=server.state_directory.parent)
            started.append(commands)
            return work(commands)

        seen = _first_or_read(shared / f"faults-{name}.json", observe)
        request.config.stash.setdefault(SEEN, {}).update(seen)
        return seen

    yield carry_out
    for commands in started:
        commands.clean_up()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    seen = config.stash.get(SEEN, None)
    if seen:
        terminalreporter.section(f"what {len(seen)} tool calls came to, sandbox {level_here()}")
        for line in table(seen):
            terminalreporter.write_line(line)


def _first_or_read(file: Path, observe: Callable[[], dict[str, Observation]]) -> dict[str, Observation]:
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            file.write_text(json.dumps(to_json(observe())))
        return from_json(json.loads(file.read_text()))
