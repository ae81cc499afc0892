from activities.tools.tool_sets import ToolSets
from surefoot.approval import Approval
from surefoot.definition import ToolDefinition


def tool(name: str, approval: Approval) -> ToolDefinition:
    return ToolDefinition(name=name, description=name, input_schema={}, approval=approval)


def test_without_walls_what_is_destructive_needs_approval_where_nothing_was_stricter() -> None:
    tools = (tool("a", "never"), tool("b", "always"))
    guarded = ToolSets(tools, {"agent": tools}).behind("none")
    expected = (tool("a", "destructive"), tool("b", "always"))
    assert (guarded.plain, guarded.of_agents["agent"]) == (expected, expected)


def test_behind_walls_a_tool_needs_what_it_says_itself() -> None:
    sets = ToolSets((tool("a", "never"), tool("b", "always")))
    assert (sets.behind("bwrap"), sets.behind("landlock")) == (sets, sets)
