"""The loop to compare with, as Temporal's AI cookbook writes it: short, and without what Surefoot promises.

The model activity is given the whole list of messages in every turn, as the providers' APIs are; every tool
is one dynamic activity; nothing is checked, bounded, recorded or told.
"""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pydantic import BaseModel
from temporalio import activity, workflow
from temporalio.common import RawValue
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from bench.notes import Notes
from bench.workload import DESCRIPTION, TOOL, Workload, spoken

WORKFLOW = "handwritten"
MODEL_ACTIVITY = "create_reply"
SYSTEM = "You are a helpful assistant. Use the tools that you are given."

Message = dict[str, Any]
"""A message in the shape of OpenAI's chat completions."""

TOOLS: list[Message] = [
    {
        "type": "function",
        "function": {"name": TOOL, "description": DESCRIPTION, "parameters": {"type": "object"}},
    }
]


class Request(BaseModel):
    """The input of the model activity."""

    model: str
    messages: list[Message]
    tools: list[Message]


@workflow.defn(name=WORKFLOW)
class HandwrittenAgent:
    """Asks the model, runs its tools, and asks again."""

    @workflow.run
    async def run(self, prompt: str, model: str) -> str:
        """Run to the model's answer."""
        messages: list[Message] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": prompt},
        ]
        while True:
            reply: Message = await workflow.execute_activity(
                MODEL_ACTIVITY,
                Request(model=model, messages=messages, tools=TOOLS),
                result_type=dict[str, Any],
                start_to_close_timeout=timedelta(seconds=60),
            )
            messages.append(reply)
            if not reply.get("tool_calls"):
                return reply["content"]
            messages += await asyncio.gather(*(_call(call) for call in reply["tool_calls"]))


def handwritten_sandbox() -> SandboxedWorkflowRunner:
    """Give the SDK's own sandbox; it imports as little for each run as Surefoot's does."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules("bench", "pydantic")
    return SandboxedWorkflowRunner(restrictions=restrictions)


async def _call(call: Message) -> Message:
    function = call["function"]
    result: Any = await workflow.execute_activity(
        function["name"],
        json.loads(function["arguments"]),
        start_to_close_timeout=timedelta(seconds=60),
    )
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}


class Activities:
    """The fake model, which answers at once, and the tool."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    @activity.defn(name=MODEL_ACTIVITY)
    async def create_reply(self, request: Request) -> Message:
        """Reply as the workload says."""
        workload = Workload.named(request.model)
        turn = sum(message["role"] == "assistant" for message in request.messages) + 1
        self._notes.turn(turn)
        reply: Message = {"role": "assistant", "content": "One more." if turn < workload.turns else "Done."}
        if calls := workload.calls_of(turn):
            reply["tool_calls"] = [_tool_call(turn, n, workload) for n in range(1, calls + 1)]
        return reply

    @activity.defn(dynamic=True)
    async def run_tool(self, arguments: Sequence[RawValue]) -> Message:
        """Speak."""
        params: dict[str, int] = activity.payload_converter().from_payload(
            arguments[0].payload, dict[str, int]
        )
        return {"text": spoken(params["turn"], params["call"], params["bytes"])}


def _tool_call(turn: int, call: int, workload: Workload) -> Message:
    arguments = json.dumps({"turn": turn, "call": call, "bytes": workload.result_bytes})
    return {
        "id": f"call-{turn}-{call}",
        "type": "function",
        "function": {"name": TOOL, "arguments": arguments},
    }
