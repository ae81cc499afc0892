import json
import signal

import pytest

from tests.console.command import Surefoot
from tests.console.lasting_tools import Gated
from tests.console.tools_on_disk import write_tool
from workers.server_ports import free_port

REDUCERS = """
from surefoot import ToolFailed, reducer

@reducer("failures_by_tool", initial={}, on=ToolFailed)
def failures_by_tool(state, event):
    return {**state, event.tool: state.get(event.tool, 0) + 1}
"""
TOLD = {"failures_by_tool": {"state": {"fall": 1}, "events": 1, "errors": 0, "last_error": None}}


def test_what_reducers_keep_is_told_while_a_run_is_at_work_and_ever_after(surefoot: Surefoot) -> None:
    tools = surefoot.directory / "tools"
    gated = Gated(tools)
    write_tool(tools, "fall", "exit 3")
    (surefoot.directory / "reducers.py").write_text(REDUCERS)
    (surefoot.directory / "fall.yaml").write_text(
        "steps: [{call: [{fall: {}}]}, {call: [{gated: {}}]}, {say: Done.}]"
    )
    asked = ("--model", "scripted:fall.yaml", "--tools", "tools", "--workflow-id", "reduced")
    running = surefoot.start("run", "Go on.", *asked, "--reducers", "reducers.py")
    running.until(gated.has_begun)

    told = surefoot("slices", "reduced")
    remembered = (surefoot.state / "queues").glob("*.json")
    sources = [json.loads(file.read_text())["reducers"] for file in remembered]
    gated.open()
    ran = running.ends()
    made = surefoot("slices", "reduced", "--reducers", "reducers.py")

    assert (told.exit_code, json.loads(told.stdout)) == (0, TOLD), told.stderr
    assert [f"{surefoot.directory}/reducers.py"] in sources
    assert ran.exit_code == 0, ran.stderr
    assert (made.exit_code, json.loads(made.stdout)) == (0, TOLD), made.stderr


def test_every_reducer_that_cannot_be_used_is_told_before_a_run_is_started(surefoot_alone: Surefoot) -> None:
    (surefoot_alone.directory / "reducers.py").write_text(REDUCERS.replace("(state, event)", "(state)"))
    said = surefoot_alone.refuses(
        "run", "Go on.", "--model", "scripted:done.yaml", "--reducers", "reducers.py"
    )

    assert said == "DIR/reducers.py: failures_by_tool: must take two arguments, the state and the event"


@pytest.mark.long
async def test_a_run_that_is_taken_over_keeps_its_reducers(surefoot_alone: Surefoot) -> None:
    tools = surefoot_alone.directory / "tools"
    gated = Gated(tools)
    write_tool(tools, "fall", "exit 3")
    (surefoot_alone.directory / "reducers.py").write_text(REDUCERS)
    (surefoot_alone.directory / "fall.yaml").write_text(
        "steps: [{call: [{fall: {}}]}, {call: [{gated: {}}]}, {say: Done.}]"
    )
    dev = surefoot_alone.start("dev", "--port", free_port(), "--ui-port", free_port())
    dev.until_it_says("task queue surefoot")
    asked = ("--model", "scripted:fall.yaml", "--tools", "tools", "--workflow-id", "taken")
    surefoot_alone("run", "Go on.", *asked, "--reducers", "reducers.py", "--detach")
    dev.until(gated.has_begun)

    told = surefoot_alone("slices", "taken")
    gated.open()
    await surefoot_alone.result("taken")
    dev.signal(signal.SIGTERM)
    dev.ends()

    assert (told.exit_code, json.loads(told.stdout)) == (0, TOLD), told.stderr
