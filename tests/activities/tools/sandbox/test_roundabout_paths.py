"""Paths that go through directories which an executable does not see, as `agents/../tools` does."""

from pathlib import Path

import pytest

from activities.tools.sandbox.level import Level
from activities.tools.sandbox.places import resolved
from surefoot.outcome import ToolSuccess
from tests.activities.tools.sandbox.walled import ANSWER, Place, at

DONE = ToolSuccess(tool="tool", result="done")


@pytest.fixture
def place(tmp_path: Path, level: Level) -> Place:
    return Place(tmp_path, level)


@at("bwrap", "landlock")
async def test_a_tool_is_started_by_a_path_that_leads_through_another_directory(place: Place) -> None:
    (place.root / "agents").mkdir()
    assert await place.call(ANSWER, tools=place.root / "agents" / ".." / "tools") == DONE


@at("bwrap", "landlock")
async def test_a_tool_is_started_by_a_path_that_leads_through_a_link_to_another_directory(
    place: Place,
) -> None:
    (place.root / "far" / "agents").mkdir(parents=True)
    (place.root / "near").symlink_to("far/agents")
    assert await place.call(ANSWER, tools=place.root / "near" / ".." / "tools") == DONE


@at("bwrap")
async def test_of_a_directory_on_the_way_nothing_is_seen(place: Place) -> None:
    (place.root / "agents").mkdir()
    (place.root / "agents" / "secret").write_text("theirs")
    tools = place.root / "agents" / ".." / "tools"
    assert "secret" in await place.stderr_of(f"cat {place.root}/agents/secret", tools=tools)


def test_directories_on_the_way_are_told_without_links(tmp_path: Path) -> None:
    (tmp_path / "far" / "agents").mkdir(parents=True)
    (tmp_path / "near").symlink_to("far/agents")
    found = resolved(f"{tmp_path}/near/../tools/../bin")
    assert (found.path, found.left) == (
        f"{tmp_path}/far/bin",
        (f"{tmp_path}/far/agents", f"{tmp_path}/far/tools"),
    )
