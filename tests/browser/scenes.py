"""Runs for an operator to look at: real workers and tools, and models that say what a scene needs."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RawValue
from temporalio.service import RPCError

from activities.interface import LlmTurnResult
from surefoot.conversation import Message
from surefoot.limits import Limits
from surefoot.run import RunInput
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.workers.real_workers import until_running, working
from tests.workflows.agents import FakeTool, Replies, answer, calls, never, says, serving, tool, until_event
from workers.snapshot import RunningActivity
from workers.starting import start_run

MODEL = "openai-chat:gpt-5-mini"
DEPLOYING = "uploading 1 of 3\nuploading 2 of 3\n"
TOKEN = "sk-live-0123456789abcdef"

_PATIENCE_SECONDS = 60

_TEXT: JsonValue = {"type": "string", "minLength": 1}


def _params(*names: str) -> JsonValue:
    return {"type": "object", "properties": dict.fromkeys(names, _TEXT), "required": [*names]}


@dataclass
class PricedReplies(Replies):
    """Replies that cost two cents each."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        result = await super().reply(messages, closing=closing)
        usage = result.usage.model_copy(update={"cost": Decimal("0.02"), "input_tokens": 1_200})
        return result.model_copy(update={"usage": usage})


def write_tools(directory: Path) -> None:
    """Write the tools of a release: one hangs, one crashes, one waits for the file `go`."""
    tools = directory / "tools"
    write_tool(
        tools, "git_log", f'{SHELL}echo \'["Fix the parser", "Add a flag"]\'\n', inputSchema=_params("range")
    )
    write_tool(
        tools,
        "run_tests",
        f"{SHELL}echo 'collected 212 items'; echo 'tests/test_sync.py ....'; exec sleep 60\n",
        inputSchema=_params("path"),
        timeoutSeconds=2,
    )
    write_tool(
        tools,
        "lint",
        f"{SHELL}echo 'Segmentation fault (core dumped)' >&2; exit 139\n",
        inputSchema=_params("path"),
    )
    write_tool(
        tools,
        "deploy",
        f"{SHELL}echo 'uploading 1 of 3' >&2; echo 'uploading 2 of 3' >&2; {WAIT_FOR_GO}; echo true\n",
        inputSchema=_params("target", "api_key"),
        timeoutSeconds=600,
    )


def _deploys(one: RunningActivity) -> bool:
    return one.captured is not None and one.captured.stderr == DEPLOYING


_RELEASE = (
    calls(("git_log", {"range": "v1.4..HEAD"}), ("run_tests", {"path": "tests/"})),
    calls(("lint", {"path": "src/"}), ("run_tests", {"file": "tests/test_sync.py"})),
    calls(("deploy", {"target": "staging", "api_key": TOKEN})),
    says("Version 1.5 is on staging. The linter crashes, and the tests of `sync` hang."),
)


@asynccontextmanager
async def release(client: Client, directory: Path) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Have a run at work in a directory with `write_tools`: a call runs, and three before it failed.

    It ends with the context.
    """
    async with working(client, directory, PricedReplies(_RELEASE)) as queue:
        run = RunInput(
            prompt="Prepare the release of version 1.5 and deploy it to staging.",
            model=MODEL,
            agent_name="release",
            limits=Limits(max_turns=12, max_tool_calls=40, max_cost=Decimal("1.50"), max_seconds=1_800),
        )
        handle = await start_run(client, run, workflow_id="release-1.5", queue=queue)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await until_running(handle, _deploys)
        yield handle
        await asyncio.to_thread((directory / "go").touch)
        await handle.result()


def _agent(name: str) -> FakeTool:
    return tool(name, never, inputSchema=_params("prompt"), agent={"key": name, "model": name})


async def _away(_: RawValue) -> JsonValue:
    while True:
        activity.heartbeat()
        await asyncio.sleep(1)


@asynccontextmanager
async def reviewers(client: Client) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Have a run that has asked two agents, of which one has still to answer."""
    asked = calls(
        ("security_reviewer", {"prompt": "Is the upload of version 1.5 safe?"}),
        ("style_reviewer", {"prompt": "Does version 1.5 read well?"}),
    )
    models = {
        "security_reviewer": Replies([calls(("look", {"path": "src/upload.py"})), says("Yes.")]),
        "style_reviewer": Replies([calls(("wait", {"for": "the author"})), says("It does.")]),
    }
    author = tool("wait", _away, timeoutSeconds=600)
    tools = {"security_reviewer": [tool("look", answer)], "style_reviewer": [author]}
    agents = [_agent(name) for name in models]
    async with serving(
        client, Replies([asked, says("Done.")]), agents, models=models, of_agents=tools
    ) as queue:
        run = RunInput(prompt="Have version 1.5 reviewed.", model=MODEL, agent_name="lead")
        handle = await start_run(client, run, workflow_id="review-1.5", queue=queue)
        style = client.get_workflow_handle("review-1.5/1-2")
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await until_event(handle, "tool_execution_completed")
            await until_event(style, "tool_execution_scheduled")
        yield handle
        await handle.cancel()


@asynccontextmanager
async def publication(
    client: Client, *, authority: tuple[str, ...] = ()
) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Have a run of which one call waits for approval, with an authority for one that is signed."""
    publish = tool("publish", answer, inputSchema=_params("to"), approval="always")
    model = Replies([calls(("publish", {"to": "the public mirror"})), says("It is published.")])
    async with serving(client, model, [publish]) as queue:
        run = RunInput(
            prompt="Publish version 1.5.", model=MODEL, agent_name="publisher", authority=authority
        )
        handle = await start_run(client, run, workflow_id="publish-1.5", queue=queue)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await until_event(handle, "approval_requested")
        yield handle
        with suppress(RPCError):
            await handle.cancel()
