"""The examples of docs/schedules.md and docs/notices.md, as they are printed."""

import json
import re
from pathlib import Path

import pytest

from surefoot.notice import Notice
from tests.conftest import RealServer
from tests.console.command import ROOT, Surefoot
from tests.console.printed_example import carry_out

SCHEDULES = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
NOTICES = (ROOT / "docs" / "notices.md").read_text(encoding="utf-8")


def block(text: str, language: str) -> str:
    (only,) = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    return only


def shape(line: str) -> str:
    """Give a printed line without times and places."""
    return re.sub(r"20\d\d-\d\d-\d\d.?\d\d:\d\d:\d\dZ|scripted:\S+", "…", line)


@pytest.mark.long
def test_a_schedule_is_told_of_as_it_is_printed(surefoot: Surefoot, server: RealServer) -> None:
    dev = surefoot.start("dev")
    dev.until_it_says("task queue surefoot")

    state = server.state_directory.parent
    ended = carry_out(block(SCHEDULES, "sh"), directory=surefoot.directory, state=state)

    assert ended.exit_code == 0, ended.stderr
    told = [shape(line) for line in ended.stdout.splitlines()]
    printed = [shape(line) for line in block(SCHEDULES, "text").splitlines()]
    assert told[: len(printed)] == printed
    assert "deleted" in ended.stderr.splitlines()


@pytest.mark.slow
def test_a_notice_is_told_as_it_is_printed(tmp_path: Path, server: RealServer) -> None:
    ended = carry_out(block(NOTICES, "sh"), directory=tmp_path, state=server.state_directory.parent)

    printed, (told,) = (
        json.loads(block(NOTICES, "json")),
        (tmp_path / "notices.jsonl").read_text().splitlines(),
    )
    assert ended.exit_code == 0, ended.stderr
    assert {**json.loads(told), "id": "", "run_id": ""} == {**printed, "id": "", "run_id": ""}
    assert Notice.model_validate(printed).model_dump() == printed
