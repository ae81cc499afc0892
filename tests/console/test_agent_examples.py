import json
from pathlib import Path

import pytest

from activities.agents.agent_file import AgentFile, read_agent
from activities.tools.discovery import discover_tools_of
from tests.console.command import ROOT, Surefoot

EXAMPLES = ROOT / "examples" / "agents"

BROKEN = "echo $(($1 - $2))\n"
FIXER = """\
steps:
  - call: [{bash: {command: sh test.sh}}]
  - call: [{edit_file: {path: add.sh, old_string: $1 - $2, new_string: $1 + $2}}]
  - call: [{bash: {command: sh test.sh}}]
  - call:
      - reviewer: {prompt: add.sh took away instead of adding; I changed its one line.}
        as: review
  - say: "Mended; verdict: {{review.result.output.verdict}} after {{review.result.turns}} turns"
"""
REVIEWER = """\
steps:
  - call: [{read_file: {path: add.sh}}, {bash: {command: sh test.sh}}]
  - say: '{"verdict": "approve", "findings": []}'
"""


def write_project(project: Path) -> None:
    """Write something to mend, and the example agents with scripts in place of their models."""
    (project / "add.sh").write_text(BROKEN)
    (project / "test.sh").write_text("[ $(sh add.sh 2 3) = 5 ]\n")
    for agent, script in (("fixer", FIXER), ("reviewer", REVIEWER)):
        text = (EXAMPLES / f"{agent}.md").read_text(encoding="utf-8")
        (project / "agents").mkdir(exist_ok=True)
        (project / "agents" / f"{agent}.md").write_text(
            text.replace("---\n", f"---\nmodel: scripted:{agent}.yaml\n", 1), encoding="utf-8"
        )
        (project / "agents" / f"{agent}.yaml").write_text(script)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.md")), ids=lambda path: path.name)
def test_every_example_of_an_agent_can_be_used(path: Path) -> None:
    agent = read_agent(path)

    assert isinstance(agent, AgentFile), agent
    assert discover_tools_of(agent).problems == ()


@pytest.mark.slow
def test_the_fixer_has_its_change_reviewed_by_an_agent_of_its_own(surefoot: Surefoot) -> None:
    write_project(surefoot.directory)

    ended = surefoot("run", "Make `sh test.sh` pass.", "--agent", "fixer", "-o", "json")

    assert (ended.exit_code, json.loads(ended.stdout)["answer"]) == (
        0,
        "Mended; verdict: approve after 2 turns",
    ), ended.stderr
    assert (surefoot.directory / "add.sh").read_text() == BROKEN.replace("-", "+")
