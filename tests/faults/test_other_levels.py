from dataclasses import asdict
from pathlib import Path

import pytest

from activities.tools.sandbox.level import LEVELS, Level
from activities.tools.sandbox.probe import why_not
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.faults.cases import CASES, GROUPS
from tests.faults.level import level_here
from tests.faults.observation import expected
from tests.faults.shared_run import carry_out

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("level", LEVELS)
def test_the_model_is_told_the_same_at_the_other_levels(
    level: Level, tmp_path: Path, server: RealServer
) -> None:
    if (reason := why_not(level)) is not None:
        pytest.skip(f"this machine does not offer {level}: {reason}")
    if level == level_here():
        pytest.skip("test_tool_calls.py does it at this level")

    surefoot = Surefoot(tmp_path, state_home=server.state_directory.parent)
    surefoot.environment["SUREFOOT_SANDBOX"] = level
    try:
        seen = carry_out(GROUPS, surefoot)
    finally:
        surefoot.clean_up()

    wrong = {case.name: seen[case.name] for case in CASES if asdict(seen[case.name]) != expected(case)}
    assert (wrong, len(seen)) == ({}, len(CASES))
