"""The examples of docs/untrusted-content.md, as they are printed."""

import re
from pathlib import Path

import pytest

from activities.agents.agent_file import AgentFile, read_agent
from surefoot.definition import ToolAnnotations
from surefoot.untrusted import classes_of
from tests.conftest import RealServer
from tests.console.printed_example import carry_out

TEXT = (Path(__file__).parents[2] / "docs" / "untrusted-content.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)[0]


@pytest.mark.long
def test_what_the_page_asks_for_is_denied(tmp_path: Path, server: RealServer) -> None:
    ended = carry_out(block("sh"), directory=tmp_path, state=server.state_directory.parent)

    assert ended.exit_code == 0, ended.stderr
    for line in (
        "    the run has read untrusted content from here on",
        "  wipe (2-1) denied: nobody can be asked in this run",
    ):
        assert line in ended.stdout.splitlines(), ended.stdout
    assert not (tmp_path / "wiped").exists()


def test_the_rules_can_be_written_as_they_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(f"---\ndescription: x\n{block('yaml')}---\nDo it.\n")

    agent = read_agent(file)

    assert isinstance(agent, AgentFile), agent
    assert set(agent.definition.after_untrusted) == {"irreversible", "write"}


def test_the_table_names_every_class() -> None:
    assert set(classes_of(ToolAnnotations())) == set(
        re.findall(r"^\| `(\w+)` \| (?:if|unless)", TEXT, re.MULTILINE)
    )
