"""docs/scaling.md against the code that it speaks of."""

import re
from datetime import timedelta
from typing import get_args

import pytest

from tests.deploy.stack import ROOT
from workers.roles import Role, queue_of
from workers.settings import PREFIX, Settings
from workers.tuning import DYNAMIC_CONFIGURATION

PAGE = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
RUNS = (100, 1_000, 10_000)
TURN_SECONDS = 10


def rows(heading: str) -> list[list[str]]:
    """Give the cells of the first table below a heading."""
    section = PAGE[PAGE.index(f"{heading}\n") :]
    table = re.search(r"^\|-.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in table[1].splitlines()]


def printed(default: object) -> str:
    match default:
        case timedelta():
            return f"{default.total_seconds():g} s"
        case bool():
            return str(default).lower()
        case _:
            return str(default)


def test_every_setting_is_there_with_its_default() -> None:
    told = {
        name: default
        for names, default, _ in rows("Everything of a worker is set by its environment:")
        for name in re.findall(r"`SUREFOOT_(\w+)`", names)
    }
    fields = {name.removeprefix(PREFIX): Settings.model_fields[name.lower()] for name in told}
    defaults = {name: printed(field.default) for name, field in fields.items() if field.default is not None}
    assert told == {"STORE": "a directory", **defaults}


def test_every_role_is_there_with_its_queue() -> None:
    told = {role.strip("`"): queue.strip("`") for role, queue, *_ in rows("## Workers by role")}
    roles: tuple[Role, ...] = get_args(Role)
    assert told == {role: queue_of(role, "agents") for role in roles if role != "all"}


def test_every_key_of_the_tuning_is_spoken_of() -> None:
    told = re.findall(
        r"`((?:matching|history|system)\.\w+)`", PAGE[PAGE.index("### Dynamic configuration") :]
    )
    assert {*told, "matching.numTaskqueueWritePartitions"} == set(DYNAMIC_CONFIGURATION)


@pytest.mark.parametrize(
    ("row", "of_one_run"),
    [
        pytest.param(0, 1 / TURN_SECONDS, id="turns"),
        pytest.param(1, 12 / TURN_SECONDS, id="events"),
        pytest.param(2, 1, id="heartbeats"),
        pytest.param(3, 1 / 10, id="fewer heartbeats"),
        pytest.param(4, 2 / TURN_SECONDS + 1, id="actions"),
        pytest.param(5, 2 / TURN_SECONDS + 1 / 10, id="actions with fewer heartbeats"),
        pytest.param(7, 0.013 / TURN_SECONDS, id="processors"),
        pytest.param(8, 1, id="places"),
    ],
)
def test_the_arithmetic_is_right(row: int, of_one_run: float) -> None:
    cells = rows("### The arithmetic")[row][2:]
    told = [float(cell.replace(",", "")) for cell in cells]
    assert told == pytest.approx([of_one_run * runs for runs in RUNS])
