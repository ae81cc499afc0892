"""What authors are told of the rules that their tools and agents have on approval."""

import json
from pathlib import Path

import pytest

from activities.agents.agent_file import AgentFile, read_agent
from console.agent_check import check_agents
from console.tools import ToolsFormat as Format
from console.tools import check, list_tools, show_tool
from tests.console.tools_on_disk import write_tool


@pytest.fixture
def tools(tmp_path: Path) -> str:
    write_tool(tmp_path, "ask", approval={"when": {"required": ["n"]}}, approvalTimeoutSeconds=60)
    write_tool(tmp_path, "free")
    return str(tmp_path)


def test_tools_tell_when_they_need_approval(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    list_tools([tools], Format.JSON)
    rows = json.loads(capsys.readouterr().out)
    list_tools([tools])
    heading, first, second = capsys.readouterr().out.splitlines()
    show_tool("ask", [tools])
    shown = capsys.readouterr().out
    check([tools])
    checked = capsys.readouterr().out

    assert [row["approval"] for row in rows] == [{"when": {"required": ["n"]}}, "never"]
    assert heading.split()[:3] == ["NAME", "TIMEOUT", "APPROVAL"]
    assert (first.split()[:3], second.split()[:3]) == (["ask", "30s", "when"], ["free", "30s", "never"])
    rule = 'approval: {"when": {"required": ["n"]}}, denied after 60s'
    assert shown.splitlines()[-1] == rule
    assert checked.splitlines()[1] == f"  {rule}"


def test_a_rule_that_never_asks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tool(tmp_path, "rm", approval="destructive", annotations={"destructiveHint": False})
    write_tool(tmp_path, "mv", approval="destructive", annotations={"destructiveHint": True})

    exit_code = check([str(tmp_path)])
    said = capsys.readouterr()

    assert (exit_code, said.err) == (
        1,
        (
            f"problem: {tmp_path}/rm.tool.json: approval: "
            "never asks, for annotations.destructiveHint is not true\n"
        ),
    )


def test_a_rule_of_an_agent_for_a_tool_that_it_does_not_have_is_told(tmp_path: Path, tools: str) -> None:
    file = tmp_path / "agent.md"
    file.write_text(
        "---\ndescription: x\ntools: [.]\napproval:\n  free: always\n  fre: always\n---\nDo it.\n"
    )
    assert isinstance(read_agent(file), AgentFile)

    (report,) = check_agents([str(file)])

    assert [str(problem) for problem in report.problems] == [f"{file}:6: approval.fre: it has no such tool"]
