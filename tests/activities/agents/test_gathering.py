import os
from pathlib import Path

import pytest

from activities.agents.agent_file import AgentFile, read_agent
from activities.agents.gathering import MAX_AGENT_DEPTH
from activities.tools.discovery import Discovery, discover_tools, discover_tools_of
from surefoot.prompt import native_description
from tests.activities.agents.agents_on_disk import write_agent
from tests.activities.tools.disk_tools import SHELL, write_tool


def agent_at(path: Path) -> AgentFile:
    agent = read_agent(path)
    assert isinstance(agent, AgentFile)
    return agent


def problems(found: Discovery, directory: Path) -> list[str]:
    return [str(problem).replace(f"{directory}{os.sep}", "") for problem in found.problems]


def names(found: Discovery) -> dict[str, list[str]]:
    return {key: [tool.name for tool in tools] for key, tools in found.tool_sets.items()}


def test_an_agent_file_is_a_tool_whose_runs_have_tools_of_their_own(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "look", SHELL)
    agent = write_agent(
        tmp_path / "agents" / "reviewer.md",
        "model: scripted:../script.yaml",
        "protocol: prompted",
        "tools: [../tools]",
        "limits: {maxTurns: 3, maxTime: 90s}",
        "outputSchema: {type: object}",
    )

    found = discover_tools([str(agent)])

    definition = found.tools["reviewer"].definition
    assert definition.agent is not None
    assert (definition.description, definition.timeout_seconds) == ("The agent reviewer.", 90)
    assert definition.agent.model_dump(mode="json", exclude={"limits"}) == {
        "key": "reviewer",
        "model": f"scripted:{tmp_path}/agents/../script.yaml",
        "protocol": "prompted",
        "system": "Be kind.",
        "outputSchema": {"type": "object"},
    }
    assert definition.agent.limits == agent_at(agent).limits
    assert (list(found.tools), names(found), list(found.served)) == (
        ["reviewer"],
        {"reviewer": ["look"]},
        ["look", "reviewer"],
    )
    assert found.problems == ()


def test_a_model_is_told_what_an_agent_answers(tmp_path: Path) -> None:
    refers = '{$defs: {a: {type: integer}}, properties: {n: {$ref: "#/$defs/a"}}}'
    plain = write_agent(tmp_path / "plain.md", "outputSchema: {properties: {n: {type: integer}}}")
    found = discover_tools([str(plain), str(write_agent(tmp_path / "refers.md", f"outputSchema: {refers}"))])

    told = {name: native_description(tool.definition) for name, tool in found.tools.items()}

    assert found.problems == ()
    assert told["plain"].endswith(
        "**Returns:**\n"
        '- `status` (string): One of "completed", "limit_reached"\n'
        "- `answer` (string): What it found or did, in its own words\n"
        "- `reason` (string or null): The limit that ended it\n"
        "- `turns` (integer)\n"
        "- `output` (any)\n"
        "  - `n` (integer)"
    )
    assert told["refers"].endswith("- `output` (any)")


def test_the_tools_of_an_agents_own_run_are_those_that_its_file_names(tmp_path: Path) -> None:
    write_agent(tmp_path / "helper.md", "tools: []")
    boss = write_agent(tmp_path / "boss.md", "tools: [builtin, helper.md]")

    found = discover_tools_of(agent_at(boss))

    assert (list(found.tools), names(found), found.problems) == (["bash", "helper"], {"helper": []}, ())
    assert found.sources == {"bash": "builtin", "helper": str(tmp_path / "helper.md")}


def test_what_several_agents_name_is_one_tool(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "look", SHELL)
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "add.py").write_text(
        'from surefoot import tool\n\n\n@tool\ndef add(a: int) -> dict[str, object]:\n    """Add."""\n'
        '    return {"success": True}\n'
    )
    sources = "[builtin, ./tools, functions, third.md]"
    for agent in ("first", "second"):
        write_agent(tmp_path / f"{agent}.md", f"tools: {sources}")
    write_agent(tmp_path / "third.md", "tools: [functions]")

    found = discover_tools(
        [tmp_path / "tools", *(str(tmp_path / f"{one}.md") for one in ("first", "second"))]
    )

    assert found.problems == ()
    assert names(found) == {
        "first": ["add", "bash", "look", "third"],
        "second": ["add", "bash", "look", "third"],
        "third": ["add"],
    }
    assert (sorted(found.tools), sorted(found.inner)) == (
        ["first", "look", "second"],
        ["add", "bash", "third"],
    )


def test_two_different_tools_of_one_name_are_none_wherever_they_are(tmp_path: Path) -> None:
    write_tool(tmp_path / "a", "look", SHELL)
    write_tool(tmp_path / "b", "look", SHELL)
    write_agent(tmp_path / "x" / "reviewer.md", "tools: [../a]")
    write_agent(tmp_path / "y" / "reviewer.md", "tools: [../b]")
    write_agent(tmp_path / "boss.md", "tools: [x/reviewer.md]")

    found = discover_tools([str(tmp_path / "boss.md"), str(tmp_path / "y" / "reviewer.md")])

    assert problems(found, tmp_path) == [
        "x/reviewer.md: name: two tools have the name 'reviewer': the other one is y/reviewer.md",
        "y/../b/look.tool.json: name: two tools have the name 'look': the other one is x/../a/look.tool.json",
    ]


def test_all_that_is_wrong_below_an_agent_is_said_where_it_is_named(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "late", SHELL, timeoutSeconds=-1)
    write_agent(tmp_path / "broken.md", "colour: red")
    boss = write_agent(
        tmp_path / "boss.md",
        *("tools:", "  - tools", "  - nowhere", "  - broken.md", "  - missing.md", "  - nobodys.module:tool"),
    )

    found = discover_tools_of(agent_at(boss))

    no_module = (
        "boss.md:8: tools.4: nobodys.module: there is no module 'nobodys' in "
        f"{tmp_path} or among what is installed"
    )
    assert problems(found, tmp_path) == [
        "tools/late.tool.json: timeoutSeconds: Input should be greater than or equal to 0.001",
        "boss.md:5: tools.1: nowhere: there is no such tools directory",
        (
            "broken.md:3: colour: is no field of an agent file; they are name, description, model, protocol, "
            "tools, mcpServers, limits, approval, afterUntrusted, network, onModelFailure, outputSchema"
        ),
        "boss.md:7: tools.3: missing.md: there is no such file; an agent file is meant",
        no_module,
    ]


def test_what_is_wrong_with_a_server_is_said_on_its_line(tmp_path: Path) -> None:
    servers = ("mcpServers:", "  time: {args: []}", "  clock:", "    url: ${CLOCK_URL}")
    write_agent(tmp_path / "timer.md", "tools: []", *servers)

    found = discover_tools([str(tmp_path / "timer.md")])

    assert problems(found, tmp_path) == [
        "timer.md:5: mcpServers.time: needs either a command or a url",
        (
            "timer.md:7: mcpServers.clock.url: the environment variable CLOCK_URL is not set, and there is "
            "no default"
        ),
    ]


@pytest.mark.parametrize("first", ["a.md", "b.md"])
def test_agents_that_are_tools_of_each_other_are_refused(tmp_path: Path, first: str) -> None:
    write_agent(tmp_path / "a.md", "tools: [builtin, b.md]")
    write_agent(tmp_path / "b.md", "tools: [a.md]")
    (tmp_path / "link.md").symlink_to(tmp_path / first)

    as_tools = discover_tools([str(tmp_path / "link.md")])
    as_run = discover_tools_of(agent_at(tmp_path / first))

    assert [len(found.errors) for found in (as_tools, as_run)] == [1, 1]
    assert "a tool of itself: " in str(as_run.errors[0])


def test_agents_stand_at_most_five_deep(tmp_path: Path) -> None:
    deepest = MAX_AGENT_DEPTH + 1
    write_agent(tmp_path / f"a{deepest}.md", "tools: []")
    for depth in range(1, deepest):
        write_agent(tmp_path / f"a{depth}.md", f"tools: [a{depth + 1}.md]")

    deep_enough = discover_tools_of(agent_at(tmp_path / "a1.md"))
    too_deep = discover_tools([str(tmp_path / "a1.md")])
    known_before = discover_tools([str(tmp_path / f"a{depth}.md") for depth in (2, 1)])

    assert problems(deep_enough, tmp_path) == []
    assert problems(too_deep, tmp_path) == [
        (
            "a5.md:3: tools.0: a6.md: is too deep: at most 5 agents stand below each other: "
            "a1 → a2 → a3 → a4 → a5 → a6"
        )
    ]
    assert problems(known_before, tmp_path) == [
        "a1.md:3: tools.0: a2.md: is too deep: at most 5 agents stand below each other: a1 → a2"
    ]
