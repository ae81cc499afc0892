"""Recorded histories of every feature: a change of the code must go on wherever a run may be."""

import re
from pathlib import Path

import pytest

from surefoot.events import ToolExecutionFailed
from surefoot.outcome import ERROR_CODES
from surefoot.testing.replay import read_history, replay_problem
from tests.replay.changed_code import Around, Mistake
from tests.replay.history_file import (
    HISTORIES,
    RENEWED,
    file_of,
    name_of,
    payloads,
    recorded,
    scenario_of,
)
from tests.replay.ledger import ledger_of
from tests.replay.scenarios import SCENARIOS

MAX_BYTES = 2 * 1024 * 1024


@pytest.mark.parametrize("file", [pytest.param(file, id=name_of(file)) for file in recorded()])
async def test_a_recorded_run_goes_on_with_todays_code(file: Path) -> None:
    around = [Around(Mistake)] if scenario_of(file) == "bug" else []

    assert await replay_problem(read_history(file), interceptors=around) is None


async def test_every_error_code_was_recorded() -> None:
    told_to_models = {
        code.decode()
        for file in RENEWED.iterdir()
        for data in payloads(read_history(file))
        for code in re.findall(rb'"error_code":"([A-Z_]+)"', data)
    }
    told_at_the_end = {
        event.error.code
        for event in await ledger_of(read_history(file_of("limit-reached")))
        if isinstance(event, ToolExecutionFailed)
    }

    assert (told_to_models | told_at_the_end) & ERROR_CODES == ERROR_CODES


def test_every_scenario_was_recorded_and_every_renewed_history_has_one() -> None:
    assert {scenario_of(file) for file in recorded() if file.parent == RENEWED} == set(SCENARIOS)


def test_the_histories_stay_small() -> None:
    assert sum(file.stat().st_size for file in HISTORIES.rglob("*")) < MAX_BYTES
