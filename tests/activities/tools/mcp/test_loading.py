import asyncio
import subprocess
import sys
from pathlib import Path

from activities.tools.discovery import discover_tools
from activities.tools.executor import ToolExecutor
from activities.tools.mcp.loading import McpServers, tools_of_mcp
from activities.tools.mcp.tool import McpTool
from surefoot.definition import ToolAnnotations, ToolDefinition
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.mcp.servers import ENVIRONMENT, Calls, config, load, rogue


def test_a_tool_that_cannot_be_used_is_left_out_with_a_warning(tmp_path: Path) -> None:
    file = config(tmp_path, r=rogue("odd", timeoutSeconds=7, exclusive=True))
    tools, problems = load(file)
    assert ([str(problem) for problem in problems], {problem.warning for problem in problems}) == (
        [
            f"{file}: mcpServers.r.echo: is left out: is listed twice; the first one counts",
            (
                f"{file}: mcpServers.r.with.dot: is left out: name: 'r__with.dot' is no name of "
                f"letters, digits, "
                "'_' and '-', at most 64"
            ),
            (
                f"{file}: mcpServers.r.{'n' * 70}: is left out: name: 'r__{'n' * 70}' is no name of letters, "
                "digits, '_' and '-', at most 64"
            ),
            (
                f"{file}: mcpServers.r.looks-ahead: is left out: inputSchema: the schema is refused: "
                'properties.a.pattern: "(?=a)" is not a "regex"'
            ),
            (
                f"{file}: mcpServers.r.remote: is left out: inputSchema: the schema is refused: Resource "
                "'http://127.0.0.1:1/schema' is not present in a registry and retrieving it "
                "failed: ValueError: "
                "http://127.0.0.1:1/schema is remote, and only local references are followed"
            ),
            f"{file}: mcpServers.r.text-schema: is left out: inputSchema: Input should be a valid dictionary",
            f"{file}: mcpServers.r.list-schema: is left out: inputSchema: its 'type' must be 'object'",
            f"{file}: mcpServers.r.?: is left out: name: Field required",
        ],
        {True},
    )
    assert list(tools) == ["r__echo", "r__undescribed"]
    assert tools["r__undescribed"].definition == ToolDefinition(
        name="r__undescribed",
        description="Title",
        input_schema={"type": "object"},
        annotations=ToolAnnotations(
            title="Title", read_only_hint=True, idempotent_hint=False, open_world_hint=True
        ),
        timeout_seconds=7,
        exclusive=True,
    )


BAD = {
    "exits": (rogue("exits"), "its server exited with code 7 before it answered: no licence"),
    "mute": (
        rogue("mute", startupTimeoutSeconds=0.5),
        "its server did not answer within 0.5s",
    ),
    "refuses": (rogue("refuses"), "its server gives no session: not today (error -32000)"),
    "old": (rogue("old"), "Unsupported protocol version from the server: 1999-01-01"),
    "garbage": (rogue("garbage"), "its server gives no session: Expecting property name"),
    "dies": (rogue("lists-nothing"), "its server exited with code 9 before it answered: last words"),
    "endless": (rogue("endless"), "its list of tools has more than 100 pages"),
    "missing": ({"command": "no-such-command"}, "there is no command 'no-such-command' in its PATH"),
    "no-file": ({"command": "/no/such/server"}, "there is no file /no/such/server"),
    "no-place": (rogue(cwd="/no/such/place"), "its working directory /no/such/place cannot be entered"),
    "no-text": ({"command": "/etc/passwd"}, "/etc/passwd is not executable (chmod +x)"),
}


def test_each_server_that_gives_no_tools_is_told(tmp_path: Path) -> None:
    tools, problems = load(
        config(tmp_path, good=rogue("pages"), **{name: one for name, (one, _) in BAD.items()})
    )
    told = {str(problem.field).removeprefix("mcpServers."): problem for problem in problems}
    assert len(tools) > 20
    assert {problem.warning for problem in problems} == {False}
    wrong = [name for name, (_, reason) in BAD.items() if f"gives no tools: {reason}" not in str(told[name])]
    assert (wrong, set(told)) == ([], set(BAD)), [str(problem) for problem in problems]


async def test_a_server_that_is_away_is_looked_for_again_when_its_tool_is_called(tmp_path: Path) -> None:
    away = tmp_path / "server"
    file = config(tmp_path, r={"command": str(away), "args": ["adds"]})
    found = await asyncio.to_thread(discover_tools, [str(file)], environment=ENVIRONMENT)
    assert ([str(error) for error in found.errors], found.obstacles, dict(found.served)) == (
        [f"{file}: mcpServers.r: gives no tools: there is no file {away}"],
        (),
        {},
    )
    executor = ToolExecutor(found.served, tmp_path, ENVIRONMENT)
    call = Calls(executor)
    outcomes = [await call("r__adds"), await call("other__adds")]
    away.symlink_to(sys.executable)
    file.write_text("")
    away.unlink()
    away.write_text(f"#!/bin/sh\nexec {sys.executable} -IS {rogue()['args'][1]}\n")
    away.chmod(0o755)
    back = await call("r__adds", {"a": 2})
    await executor.close()
    assert [one.error for one in outcomes if isinstance(one, ToolFailure)] == [
        f"Tool 'r__adds' could not be started: there is no file {away}",
        "Tool 'other__adds' is not known to the executor that was asked for it",
    ]
    assert back == ToolSuccess(tool="r__adds", result={"sum": 2})


def test_servers_in_a_file_of_another_kind_are_found_as_well(tmp_path: Path) -> None:
    place = tmp_path / "agent.md"
    found = list(tools_of_mcp(McpServers(place, {"r": rogue()}), environment=ENVIRONMENT))
    origins = {one.origin for one in found if isinstance(one, McpTool)}
    assert (len(found) > 20, origins) == (True, {f"{place}: mcpServers.r"})


def test_who_names_no_server_does_not_import_the_sdk() -> None:
    code = "import sys, console.main; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
