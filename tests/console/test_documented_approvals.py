"""The examples of docs/approvals.md, as they are printed."""

import json
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from activities.agents.agent_file import AgentFile, read_agent
from surefoot.approval import Approval
from surefoot.run import Approve, Deny
from tests.conftest import RealServer
from tests.console.printed_example import carry_out

TEXT = (Path(__file__).parents[2] / "docs" / "approvals.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)[0]


@pytest.mark.long
def test_one_call_is_approved_and_one_denied(tmp_path: Path, server: RealServer) -> None:
    ended = carry_out(block("sh"), directory=tmp_path, state=server.state_directory.parent)

    assert ended.exit_code == 0, ended.stderr
    for line in (
        "  put (1-1) approved by Ada",
        "  put (2-1) denied: One file is enough.",
        "  Done.",
    ):
        assert line in ended.stdout.splitlines(), ended.stdout


def test_the_rules_can_be_written_as_they_are_printed(tmp_path: Path) -> None:
    TypeAdapter[Approval](Approval).validate_python(json.loads(block("json")))
    file = tmp_path / "a.md"
    file.write_text(f"---\ndescription: x\n{block('yaml')}---\nDo it.\n")

    agent = read_agent(file)

    assert isinstance(agent, AgentFile), agent
    assert set(agent.definition.approval) == {"bash", "*"}


def test_the_arguments_of_the_updates_are_those_of_the_code() -> None:
    printed = {name: json.loads(fields) for name, fields in re.findall(r"\| `(\w+)` \| `(\{.*\})` \|", TEXT)}

    assert set(printed["approve"]) == set(Approve.model_validate(printed["approve"]).model_dump())
    assert set(printed["deny"]) == set(Deny.model_validate(printed["deny"]).model_dump())
