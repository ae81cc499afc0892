import signal
from urllib.parse import urlsplit

import pytest

from tests.console.command import MODEL, Surefoot
from tests.console.lasting_tools import Gated

pytestmark = pytest.mark.slow

PROVIDER = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
SCRIPT = "steps: [{call: [{gated: {}}]}, {say: 'It said {{last.result}}.'}]\n"


def test_two_runs_at_once_share_a_server_and_the_last_one_stops_it(surefoot_alone: Surefoot) -> None:
    gated = Gated(surefoot_alone.directory / "tools")
    (surefoot_alone.directory / "gated.yaml").write_text(SCRIPT)
    arguments = ("run", "Go on.", "--model", "scripted:gated.yaml", "--tools", "tools", "-o", "jsonl")

    first, second = surefoot_alone.start(*arguments), surefoot_alone.start(*arguments)
    links: list[str] = [command.until_printed("run_started")["ui_url"] for command in (first, second)]
    first.until(gated.has_begun)
    gated.open()
    answers = [command.ends().event("run_finished")["answer"] for command in (first, second)]

    assert len({urlsplit(link).netloc for link in links}) == 1
    assert answers == ["It said true."] * 2
    assert (surefoot_alone.server(), surefoot_alone.remembered_queues()) == (None, [])


def test_a_run_that_is_stopped_while_it_starts_leaves_no_server(surefoot_alone: Surefoot) -> None:
    # Loading the provider takes long enough for the server to be up first.
    command = surefoot_alone.start("run", "Go on.", "--model", "openai-chat:any", environment=PROVIDER)
    command.until(surefoot_alone.server)

    command.signal(signal.SIGTERM)
    ended = command.ends()

    assert (ended.exit_code, ended.stdout, surefoot_alone.server()) == (130, "", None)
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_run_leaves_no_server_and_no_queue_however_it_ends(
    surefoot_alone: Surefoot, exit_code: int
) -> None:
    (surefoot_alone.directory / "refused.yaml").write_text("steps: [{fail: {refused: no}}]")
    model = MODEL if exit_code == 0 else ("--model", "scripted:refused.yaml")

    ended = surefoot_alone("run", "Go on.", *model)

    assert (ended.exit_code, surefoot_alone.server(), surefoot_alone.remembered_queues()) == (
        exit_code,
        None,
        [],
    )
