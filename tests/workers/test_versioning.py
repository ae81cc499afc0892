"""Two versions of the workers on a real server: who carries out what while the newer one is taking over."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.interface import LlmTurnResult
from surefoot.conversation import Message, UserMessage
from surefoot.testing.replay import chain_of
from surefoot.usage import Usage
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.workers.real_workers import new_queue, until_running, worker_of
from tests.workers.real_workers import says as printed
from tests.workers.versions import make_current, of_worker
from tests.workflows.agents import calls, says, start
from workers.settings import SettingsError, load_settings
from workers.versioning import deployment_version, pinning


class Waiting:
    """The model of one version: two calls, one after the other, then an answer that names the version."""

    def __init__(self, version: str) -> None:
        self._version = version

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        first = isinstance(messages[-1], UserMessage)
        reply = calls(("wait", {}), ("far", {})) if first else says(f"by version {self._version}")
        return LlmTurnResult(reply=reply, usage=Usage(requests=1), model_name="waiting")


async def workers_of(client: Client, run: WorkflowHandle[Any, Any]) -> list[set[str]]:
    """Give who took the tasks of a run, activities included, for every run of its chain."""
    return [
        {
            event.workflow_task_completed_event_attributes.identity
            or event.activity_task_completed_event_attributes.identity
            for event in history.events
            if event.HasField("workflow_task_completed_event_attributes")
            or event.HasField("activity_task_completed_event_attributes")
        }
        for history in await chain_of(client, run.id)
    ]


@pytest.mark.long
async def test_a_turn_ends_on_the_version_where_it_began_and_the_run_goes_on_with_the_current_one(
    client: Client, tmp_path: Path
) -> None:
    queue, far = new_queue(), new_queue()
    waits = f"{SHELL}echo '\"begun\"'; {WAIT_FOR_GO}\n"
    write_tool(tmp_path / "tools", "wait", waits, exclusive=True)
    write_tool(tmp_path / "tools", "far", f"{SHELL}echo true\n", exclusive=True, executorQueue=far)
    old, new = await of_worker(client, "version 1"), await of_worker(client, "version 2")

    def worker(served: str, of: Client, version: str) -> Worker:
        model = Waiting(version)
        return worker_of(of, tmp_path, model, queue=served, deployment=queue, build_id=version)

    async with asyncio.timeout(100), worker(queue, old, "1"), worker(far, old, "1"):
        await make_current(client, queue, "1")
        before = await start(client, queue)
        await until_running(before, printed('"begun"\n'))
        async with worker(queue, new, "2"), worker(far, new, "2"):
            await make_current(client, queue, "2")
            after = await start(client, queue)
            # By then every part of the server knows which version is current.
            await until_running(after, printed('"begun"\n'))
            (tmp_path / "go").touch()
            answers = [(await run.result()).answer for run in (before, after)]

    assert answers == ["by version 2", "by version 2"]
    assert await workers_of(client, before) == [{"version 1"}, {"version 2"}]
    assert await workers_of(client, after) == [{"version 2"}]


def test_a_worker_without_a_version_is_not_pinned() -> None:
    assert pinning(None) is None


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        pytest.param(
            {"DEPLOYMENT": "agents"},
            "SUREFOOT_DEPLOYMENT and SUREFOOT_BUILD_ID only go together: set both or neither",
            id="no build id",
        ),
        pytest.param(
            {"BUILD_ID": "2"},
            "SUREFOOT_DEPLOYMENT and SUREFOOT_BUILD_ID only go together: set both or neither",
            id="no deployment",
        ),
        pytest.param(
            {"DEPLOYMENT": "my.agents", "BUILD_ID": "2"},
            "SUREFOOT_DEPLOYMENT is 'my.agents': it must be at most 100 letters, digits, _ and -",
            id="a deployment with a dot",
        ),
        pytest.param(
            {"DEPLOYMENT": "agents", "BUILD_ID": "the second"},
            "SUREFOOT_BUILD_ID is 'the second': it must be at most 100 letters, digits, _, -, + and .",
            id="a build id with a space",
        ),
    ],
)
def test_what_names_no_version_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"SUREFOOT_{name}", value)

    with pytest.raises(SettingsError) as refused:
        load_settings()

    assert str(refused.value) == sentence


def test_a_version_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_DEPLOYMENT", "agents")
    monkeypatch.setenv("SUREFOOT_BUILD_ID", "2026.11")

    version = deployment_version(load_settings())

    assert version is not None
    assert version.to_canonical_string() == "agents.2026.11"
