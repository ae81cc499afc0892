import signal
from collections.abc import Generator

import pytest

from tests.console.command import Command, Surefoot
from tests.console.lasting_tools import Lingering

pytestmark = pytest.mark.slow

TOOL_SCRIPT = """
steps:
  - call: [{linger: {}}]
  - say: "{{last.error_code}}, having said: {{last.stdout}}"
"""


@pytest.fixture
def lingering(surefoot_alone: Surefoot) -> Generator[Lingering]:
    tool = Lingering(surefoot_alone.directory / "tools", heartbeatSeconds=2)
    yield tool
    tool.end()


def start_run(surefoot: Surefoot, script: str, *arguments: str) -> tuple[Command, str]:
    (surefoot.directory / "script.yaml").write_text(script)
    model = ("--model", "scripted:script.yaml")
    command = surefoot.start("run", "Go on.", *model, *arguments, "-o", "jsonl")
    return command, command.until_printed("run_started")["workflow_id"]


def cut_power(surefoot: Surefoot, command: Command) -> None:
    command.kill()
    surefoot.kill_server()


async def test_a_run_that_was_cut_off_in_a_tool_call_goes_on_with_the_next_dev(
    surefoot_alone: Surefoot, lingering: Lingering
) -> None:
    command, workflow_id = start_run(surefoot_alone, TOOL_SCRIPT, "--tools", "tools")
    command.until(lingering.has_begun)
    cut_power(surefoot_alone, command)
    assert surefoot_alone.server() is None

    dev = surefoot_alone.start("dev")
    dev.until(surefoot_alone.server)
    result = await surefoot_alone.result(workflow_id)

    assert (result.status, result.failed_tool_executions) == ("completed", 1)
    assert result.answer.startswith("TOOL_LOST, having said:")
    dev.until(lambda: surefoot_alone.remembered_queues() == [])


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            "steps: [{fail: {unavailable: overloaded, retry_after_seconds: 2, times: 1}, say: Back.}]",
            id="while it waits for its model",
        ),
        pytest.param(
            "steps: [{say: Back., delay_seconds: 1}]",
            id="while its model replies",
            marks=pytest.mark.long,  # a silent worker counts as dead after 15 seconds
        ),
    ],
)
async def test_a_run_that_was_cut_off_goes_on_with_the_next_dev(
    surefoot_alone: Surefoot, script: str
) -> None:
    command, workflow_id = start_run(surefoot_alone, script)
    command.until_printed("turn_started")
    cut_power(surefoot_alone, command)

    dev = surefoot_alone.start("dev")
    dev.until(surefoot_alone.server)
    result = await surefoot_alone.result(workflow_id)

    assert (result.status, result.answer) == ("completed", "Back.")


async def test_a_run_that_was_left_by_ctrl_c_goes_on_with_the_next_dev(surefoot_alone: Surefoot) -> None:
    script = "steps: [{fail: {unavailable: overloaded, retry_after_seconds: 2, times: 1}, say: Back.}]"
    command, workflow_id = start_run(surefoot_alone, script)
    command.until_printed("turn_started")

    command.signal(signal.SIGINT)
    ended = command.ends()
    assert (ended.exit_code, surefoot_alone.server()) == (130, None)
    dev = surefoot_alone.start("dev")
    dev.until(surefoot_alone.server)
    result = await surefoot_alone.result(workflow_id)

    assert (result.status, result.answer) == ("completed", "Back.")
