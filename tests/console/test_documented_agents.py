import re
from pathlib import Path

import pytest

from activities.agents.agent_file import read_agent
from surefoot.agent_definition import AgentDefinition, AgentLimits
from tests.conftest import RealServer
from tests.console.command import ROOT
from tests.console.printed_example import carry_out

pytestmark = pytest.mark.slow

AGENTS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
TOOLS = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def keys(heading: str) -> list[str]:
    """The first column of the table below a heading."""
    _, _, after = AGENTS.partition(f"\n{heading}\n")
    return re.findall(r"^\| `(\w+)` \|", re.split(r"\n##+ ", after)[0], flags=re.MULTILINE)


def test_every_key_of_an_agent_file_is_documented() -> None:
    assert keys("## The file") == [field.alias for field in AgentDefinition.model_fields.values()]
    assert keys("### Limits") == [field.alias for field in AgentLimits.model_fields.values()]


def test_the_mistakes_in_the_documentation_are_told_as_it_says(tmp_path: Path) -> None:
    (listed,) = re.findall(r"```text\n(.*?)```", AGENTS, flags=re.DOTALL)
    path = tmp_path / "reviewer.md"
    path.write_text("---\ndescripton: Reviews.\nlimits:\n  maxTurns: 0\n\n---\n")

    problems = read_agent(path)

    assert isinstance(problems, tuple)
    assert sorted(str(one).replace(str(tmp_path), "agents") for one in problems) == sorted(
        listed.splitlines()
    )


def printed(example: str, directory: Path, server: RealServer) -> list[str]:
    """What a shell prints for an example, line by line."""
    shown = carry_out(example, directory=directory, state=server.state_directory.parent)
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout.splitlines()


def test_the_example_of_an_agent_works_as_it_is_printed(tmp_path: Path, server: RealServer) -> None:
    (example,) = re.findall(r"```sh\n(.*?)```", AGENTS, flags=re.DOTALL)

    assert printed(example, tmp_path, server) == ["ok: counter (agents/counter.md): bash", "1"]


def test_the_example_of_an_agent_as_a_tool_is_shown_as_the_model_sees_it(
    tmp_path: Path, server: RealServer
) -> None:
    section = TOOLS.split("\n## An agent\n")[1].split("\n## ")[0]
    (example,) = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)

    lines = printed(example, tmp_path, server)

    assert lines[0] == f"ok: reader ({tmp_path}/agents/reader.md)"
    assert {"### reader", "Reads a file and says in one sentence what it is about."} <= set(lines)
