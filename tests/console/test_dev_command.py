import re
import signal
from collections.abc import Generator
from urllib.request import urlopen

import pytest

from tests.console.command import MODEL, Command, Surefoot
from tests.console.lasting_tools import Gated
from workers.server_ports import free_port

pytestmark = pytest.mark.slow

SCRIPT = """
steps:
  - call: [{gated: {}}]
  - choose:
      - when: {tool_success: true}
        say: It said {{last.result}}.
      - say: "It failed: {{last.error_code}}."
"""


@pytest.fixture
def dev(surefoot_alone: Surefoot) -> Command:
    """`surefoot dev` on free ports, up."""
    return started(surefoot_alone)


def started(surefoot: Surefoot) -> Command:
    dev = surefoot.start("dev", "--port", free_port(), "--ui-port", free_port())
    dev.until_it_says("task queue surefoot")
    return dev


@pytest.fixture
def gated(surefoot_alone: Surefoot) -> Generator[Gated]:
    tool = Gated(surefoot_alone.directory / "tools")
    (surefoot_alone.directory / "gated.yaml").write_text(SCRIPT)
    yield tool
    tool.open()


GATED = ("--model", "scripted:gated.yaml", "--tools", "tools")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_dev_that_is_stopped_is_0_and_leaves_no_server(
    surefoot_alone: Surefoot, dev: Command, number: signal.Signals
) -> None:
    server = surefoot_alone.server()
    dev.signal(number)
    ended = dev.ends()

    assert server
    assert (ended.exit_code, ended.stdout, surefoot_alone.server()) == (0, "", None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_dev_that_is_stopped_while_it_starts_is_0_and_leaves_no_server(
    surefoot_alone: Surefoot, number: signal.Signals
) -> None:
    dev = surefoot_alone.start("dev")
    dev.until(surefoot_alone.server)

    dev.signal(number)

    assert (dev.ends().exit_code, surefoot_alone.server()) == (0, None)


def test_a_second_dev_is_refused(surefoot_alone: Surefoot, dev: Command) -> None:
    ended = surefoot_alone("dev")

    sentence = f"`surefoot dev` is already up on {surefoot_alone.state}"
    assert (ended.exit_code, ended.stdout, ended.stderr) == (2, "", f"surefoot: {sentence}\n")


def test_the_links_that_are_printed_lead_to_a_ui(surefoot_alone: Surefoot, dev: Command) -> None:
    ended = surefoot_alone("run", "Go on.", *MODEL)
    links = [re.findall(r"http://\S+", printed)[0] for printed in (dev.stderr, ended.stderr)]

    answers: list[int] = []
    for link in links:
        with urlopen(link, timeout=10) as answer:
            answers.append(answer.status)

    assert answers == [200, 200]


async def test_a_detached_run_goes_on_with_dev(surefoot_alone: Surefoot, dev: Command, gated: Gated) -> None:
    ended = surefoot_alone("run", "Go on.", *GATED, "--detach", "-o", "jsonl")
    (started_event,) = ended.events
    gated.open()

    result = await surefoot_alone.result(started_event["workflow_id"])

    assert (ended.exit_code, started_event["type"]) == (0, "run_started")
    assert (result.status, result.answer) == ("completed", "It said true.")
    dev.until(lambda: surefoot_alone.remembered_queues() == [])


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        pytest.param(signal.SIGKILL, "It failed: TOOL_LOST.", id="whose command is killed"),
        pytest.param(signal.SIGINT, "It said true.", id="that is left by Ctrl-C"),
    ],
)
async def test_a_run_goes_on_with_dev(
    surefoot_alone: Surefoot, dev: Command, gated: Gated, number: signal.Signals, answer: str
) -> None:
    run = surefoot_alone.start("run", "Go on.", *GATED, "-o", "jsonl")
    workflow_id = run.until_printed("run_started")["workflow_id"]
    run.until(gated.has_begun)

    run.signal(number)
    gated.open()
    run.ends()
    result = await surefoot_alone.result(workflow_id)

    assert (result.status, result.answer, result.turns) == ("completed", answer, 2)
    dev.until(lambda: surefoot_alone.remembered_queues() == [])
    dev.signal(signal.SIGTERM)
    assert (dev.ends().exit_code, surefoot_alone.server()) == (0, None)


async def test_a_server_that_is_killed_is_started_again_and_its_runs_go_on(
    surefoot_alone: Surefoot, dev: Command, gated: Gated
) -> None:
    ended = surefoot_alone("run", "Go on.", *GATED, "--detach", "-o", "jsonl")
    dev.until(gated.has_begun)
    before = surefoot_alone.server()

    surefoot_alone.kill_server()
    gated.open()
    after = dev.until(surefoot_alone.server)
    result = await surefoot_alone.result(ended.event("run_started")["workflow_id"])

    assert before
    assert after.process_id != before.process_id
    assert after.ports == before.ports
    assert (result.status, result.turns) == ("completed", 2)
