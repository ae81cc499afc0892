"""Notices of runs from workers whose settings say whom to tell."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from temporalio.client import Client

from surefoot.notice import Notice
from tests.activities.notices.listener import Listener
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.workers.real_workers import working
from tests.workflows.agents import Replies, says, start
from workers.settings import Settings


async def test_the_command_of_a_worker_is_told_with_the_address_of_the_page(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", SHELL)
    settings = {"notify_command": "sh -c 'cat > told'", "ui_url": "http://ui.test"}
    async with working(client, tmp_path, Replies([says("Done.")]), **settings) as queue:
        run = await start(client, queue, notify=("ended",))
        await run.result()

    told = Notice.model_validate_json((tmp_path / "told").read_text())
    run_id = run.first_execution_run_id
    page = f"http://ui.test/namespaces/{client.namespace}/workflows/{run.id}/{run_id}/history"
    assert (told.status, told.text, told.ui_url) == ("completed", "Done.", page)


async def test_the_url_of_a_worker_is_told_again_when_it_was_away(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL)
    with Listener(503, 200) as listener:
        settings = {"notify_url": listener.url}
        async with working(client, tmp_path, Replies([says("Done.")]), **settings) as queue:
            await (await start(client, queue, notify=("ended",))).result()

    first, second = (json.loads(body) for _, body in listener.posted)
    assert first == second
    assert second["status"] == "completed"


async def test_a_worker_that_has_nobody_to_tell_says_so(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL)
    async with working(client, tmp_path, Replies([says("Done.")])) as queue:
        run = await start(client, queue, notify=("ended",))
        await run.result()
        history = await run.fetch_history()

    ends = [event.activity_task_completed_event_attributes for event in history.events]
    assert [end.result.payloads[0].data for end in ends if end.result.payloads][-1] == b'{"told":false}'


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        pytest.param({"notify_command": "'"}, "it cannot be split into words", id="an open quote"),
        pytest.param({"notify_command": " "}, "it names no program", id="no program"),
        pytest.param({"notify_url": "ftp://x"}, "it must be a URL with http", id="another scheme"),
        pytest.param(
            {"notify_url": "http://x", "notify_command": "x"}, "exclude each other", id="two ways at once"
        ),
    ],
)
def test_settings_that_tell_nobody_are_refused(settings: dict[str, str], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Settings.model_validate(settings)


def test_the_secret_is_in_no_log_of_the_settings() -> None:
    assert "a secret" not in repr(Settings(notify_url="http://x", notify_secret="a secret"))
