from pathlib import Path

import pytest

from activities.agents.finding import NoSuchAgentError, agent_path, named_agents
from tests.activities.agents.agents_on_disk import write_agent


def test_a_name_is_that_of_a_file_and_the_first_directorys_counts(tmp_path: Path) -> None:
    project, user = tmp_path / "project", tmp_path / "user"
    mine, shadowed = write_agent(project / "reviewer.md"), write_agent(user / "reviewer.md")
    own = write_agent(user / "planner.md")
    (project / "README.md").write_text("No agent.")
    (project / "notes.txt").write_text("No agent.")
    directories = [tmp_path / "nowhere", project, user]

    assert shadowed.exists()
    assert named_agents(directories) == {"reviewer": mine, "planner": own}
    assert [agent_path(name, directories) for name in ("reviewer", "planner")] == [mine, own]


@pytest.mark.parametrize("path", ["reviewer.md", "./reviewer", "/a/b", "README.md"])
def test_what_has_a_slash_or_ends_as_files_do_is_a_path(path: str, tmp_path: Path) -> None:
    assert agent_path(path, [tmp_path]) == Path(path)


def test_a_name_that_nobody_has_is_told_with_the_places_and_the_closest_one(tmp_path: Path) -> None:
    write_agent(tmp_path / "reviewer.md")

    with pytest.raises(NoSuchAgentError) as near:
        agent_path("revewer", [tmp_path])
    with pytest.raises(NoSuchAgentError) as far:
        agent_path("x", [tmp_path, Path("agents")])

    assert str(near.value) == (
        f"there is no agent 'revewer': no file {tmp_path}/revewer.md; did you mean 'reviewer'?"
    )
    assert str(far.value) == f"there is no agent 'x': no file {tmp_path}/x.md or agents/x.md"
