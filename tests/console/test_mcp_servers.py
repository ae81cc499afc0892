import json
import sys

import pytest

from tests.activities.tools.mcp.servers import ROGUE, config, rogue
from tests.console.command import MODEL, Surefoot

pytestmark = pytest.mark.slow

SCRIPT = """
steps:
  - fail: {unavailable: overloaded, retry_after_seconds: 2, times: 1}
    call: [{r__adds: {a: 1}}]
  - say: "{{last.error_code}}: {{last.error}}"
"""


def test_everything_that_is_wrong_with_servers_is_told_at_once(surefoot: Surefoot) -> None:
    config(
        surefoot.directory,
        good=rogue("odd"),
        away=rogue("exits"),
        unset=rogue(env={"KEY": "${NO_SUCH_VARIABLE}"}),
    )
    ended = surefoot("tools", "check", "servers.json")
    unset = "the environment variable NO_SUCH_VARIABLE is not set, and there is no default"
    told = [line.partition("servers.json: ")[2] for line in ended.stderr.splitlines()]
    assert (ended.exit_code, len(ended.stdout.splitlines()), len(told)) == (1, 2, 10)
    assert {
        f"mcpServers.unset.env.KEY: {unset}",
        "mcpServers.away: gives no tools: its server exited with code 7 before it answered: no licence",
    } <= set(told)


def test_a_tool_is_shown_and_called_by_its_name_and_its_servers(surefoot: Surefoot) -> None:
    config(surefoot.directory, r=rogue())
    shown = surefoot("tools", "show", "r__adds", "--tools", "servers.json", "-o", "json")
    called = surefoot("tools", "call", "r__adds", '{"a": 1, "b": 2}', "--tools", "servers.json")
    assert json.loads(shown.stdout)["outputSchema"]["required"] == ["sum"]
    assert json.loads(called.stdout) == {"tool": "r__adds", "tool_success": True, "result": {"sum": 3}}


def test_no_run_begins_without_a_server_that_was_named(usable: Surefoot) -> None:
    config(usable.directory, r=rogue("exits"))
    assert usable.refuses("run", "Go.", *MODEL, "--tools", "servers.json") == (
        "DIR/servers.json: mcpServers.r: gives no tools: its server exited with code 7 before it answered: "
        "no licence"
    )


@pytest.mark.long
async def test_a_run_goes_on_although_its_server_is_away_now(surefoot_alone: Surefoot) -> None:
    program = surefoot_alone.directory / "server"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -IS {ROGUE}\n")
    program.chmod(0o755)
    config(surefoot_alone.directory, r={"command": str(program)})
    (surefoot_alone.directory / "script.yaml").write_text(SCRIPT)
    arguments = ("--model", "scripted:script.yaml", "--tools", "servers.json", "-o", "jsonl")
    command = surefoot_alone.start("run", "Add.", *arguments)
    workflow_id = command.until_printed("run_started")["workflow_id"]
    command.until_printed("turn_started")
    command.kill()
    surefoot_alone.kill_server()
    program.unlink()

    dev = surefoot_alone.start("dev")
    dev.until(surefoot_alone.server)
    result = await surefoot_alone.result(workflow_id)

    assert (result.status, result.answer) == (
        "completed",
        f"TOOL_CRASHED: Tool 'r__adds' could not be started: there is no file {program}",
    )
