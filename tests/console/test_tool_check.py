from pathlib import Path

from console.tool_check import check_tools
from tests.console.tools_on_disk import write_tool

AGENT = """---
description: Reviews.
tools: [tools]
---
Review.
"""


def test_an_agent_whose_own_tools_have_problems_is_not_good(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    write_tool(tmp_path / "tools", "fine")
    (tmp_path / "good.md").write_text(AGENT)
    (tmp_path / "bad.md").write_text(AGENT.replace("tools]", "nowhere]"))

    report = check_tools([str(tmp_path / "good.md"), str(tmp_path / "bad.md")])

    assert [tool.definition.name for tool in report.good] == ["good"]
    assert [str(problem).removeprefix(f"{tmp_path}/") for problem in report.problems] == [
        f"bad.md:3: tools.0: {tmp_path}/nowhere: there is no such tools directory"
    ]
