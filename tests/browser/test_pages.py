"""What an operator reads in Temporal's own UI."""

import asyncio
import re
from pathlib import Path

import pytest
from temporalio.client import Client

from surefoot.decision_token import Asking
from surefoot.run import Approve
from tests.browser.pages import COLUMNS, Pages
from tests.browser.scenes import TOKEN, publication, release, reviewers, write_tools
from tests.workflows.signing import AUTHORITY, signed

pytestmark = pytest.mark.long


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_tools(tmp_path)
    return tmp_path


async def test_the_pages_of_a_run_tell_what_it_does_and_why_calls_failed(
    client: Client, directory: Path, pages: Pages
) -> None:
    async with release(client, directory) as run:
        run_id = run.first_execution_run_id or ""

        await pages.list("SurefootAgent = 'release'")
        await pages.shows("release-1.5", "Save as New")
        await pages.add_columns()
        await pages.shows(*COLUMNS, "release running 2 3 TOOL_CRASHED 0.04")

        await pages.run(run.id, run_id, "timeline")
        await pages.shows(
            "llm_turn • turn 1 · openai-chat:gpt-5-mini · 2 new messages",
            "git_log • v1.4..HEAD",
            "run_tests • tests/",
            'deploy • target="staging", api_key="[redacted]"',
        )
        await pages.open_call("lint • src/")
        await pages.shows(
            "FAILED lint",
            "Tool 'lint' crashed with exit code 139",
            "TOOL_CRASHED",
            "Segmentation fault (core dumped)",
        )

        await pages.run(run.id, run_id, "history")
        await pages.shows("Failure Message Tool 'run_tests' timed out after 2s")

        await pages.run(run.id, run_id, "pending-activities")
        await pages.shows("deploy", '"stderr": "uploading 1 of 3 uploading 2 of 3 "')

        await pages.run(run.id, run_id, "user-metadata")
        await pages.shows(
            "Prepare the release of version 1.5 and deploy it to staging.",
            "Limits 12 turns · 40 tool calls · $1.50 · 30m",
            "Runs deploy agent release · turn 3 · 3 failed calls",
            "Last failure 2-1 TOOL_CRASHED: Tool 'lint' crashed with exit code 139",
            "Spent 3 of 12 turns · 4 of 40 tool calls · $0.06 of $1.50",
            "2-2 run_tests • tests/test_sync.py INVALID_PARAMS —",
        )
        assert TOKEN not in await pages.said()

        await asyncio.to_thread((directory / "go").touch)
        await run.result()
        await pages.run(run.id, run_id, "user-metadata")
        await pages.shows("Completed agent release · turn 4 · 3 failed calls", "3-1 deploy")
        await pages.run(run.id, run_id, "metadata")
        await pages.shows('"SurefootStatus": "completed"', '"SurefootCost": 0.08', '"SurefootTurns": 4')


async def test_the_pages_of_a_run_lead_to_the_agents_that_it_called(client: Client, pages: Pages) -> None:
    async with reviewers(client) as run:
        run_id = run.first_execution_run_id or ""

        await pages.run(run.id, run_id, "timeline")
        await pages.shows(
            "security_reviewer • Is the upload of version 1.5 safe?",
            "style_reviewer • Does version 1.5 read well?",
        )
        await pages.run(run.id, run_id, "relationships")
        await pages.shows("review-1.5/1-1", "review-1.5/1-2")
        await pages.run(run.id, run_id, "user-metadata")
        await pages.shows(
            "Runs style_reviewer agent lead", "1-1 security_reviewer • Is the upload of version 1.5 safe? ok"
        )
        await pages.list("SurefootAgent = 'style_reviewer' AND SurefootStatus = 'running'")
        await pages.shows("1 Workflow", "review-1.5/1-2")


async def test_a_call_is_approved_with_nothing_but_the_ui(client: Client, pages: Pages) -> None:
    async with publication(client) as run:
        run_id = run.first_execution_run_id or ""
        await pages.list("SurefootStatus = 'waiting'")
        await pages.shows("publish-1.5")

        await pages.run(run.id, run_id, "user-metadata")
        await pages.shows(
            "Waits for approval of 1 call", 'publish {"to": "the public mirror"}: send the update'
        )
        told = re.search(r"approve with (\{.*?\})", await pages.said())
        assert told is not None
        await pages.send_update("approve", told[1])

        result = await asyncio.wait_for(run.result(), 60)
        assert (result["status"], result["failed_tool_executions"]) == ("completed", 0)


async def test_a_signed_decision_is_pasted_into_the_form_of_the_ui(client: Client, pages: Pages) -> None:
    async with publication(client, authority=AUTHORITY) as run:
        run_id = run.first_execution_run_id or ""
        await pages.run(run.id, run_id, "user-metadata")
        await pages.shows("and a token, as surefoot approve … --print prints it")
        told = re.search(r"approve with (\{.*?\})", await pages.said())
        assert told is not None
        request = Approve.model_validate_json(told[1])
        await pages.send_update("approve", signed(request, Asking(run.id, run_id)).model_dump_json())

        result = await asyncio.wait_for(run.result(), 60)
        assert (result["status"], result["failed_tool_executions"]) == ("completed", 0)
