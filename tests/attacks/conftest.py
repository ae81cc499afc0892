from collections.abc import Mapping

import pytest

from tests.attacks.suite import Seen, table

COLUMNS = pytest.StashKey[dict[str, Mapping[str, Seen]]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    columns = config.stash.get(COLUMNS, None)
    if columns:
        terminalreporter.section("attacks, and what held them")
        for line in table(columns):
            terminalreporter.write_line(line)
