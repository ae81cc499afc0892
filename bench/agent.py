"""Surefoot's side of the bench: its real worker, a model that answers at once, and a tool in the process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from temporalio.client import Client
from temporalio.worker import Worker

from activities.boundary import ToolActivities
from activities.heartbeats import BeatIntervals
from activities.interface import Capture, LlmTurnInput, LlmTurnResult, ToolCallInput
from activities.model import Model
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import ToolExecutor
from bench.notes import Notes
from bench.workload import DESCRIPTION, TOOL, Workload, spoken
from surefoot.conversation import AssistantMessage, Message, ToolCall
from surefoot.definition import ToolDefinition
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.usage import Usage
from workers.settings import Settings
from workers.worker import build_worker

Activity = Callable[..., Any]

DEFINITION = ToolDefinition.model_validate(
    {"name": TOOL, "description": DESCRIPTION, "inputSchema": {"type": "object"}}
)
"""The tool of every workload."""


@dataclass(frozen=True)
class Talkative:
    """A model that asks for more in every turn but the last of its workload."""

    turn: int
    workload: Workload

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:  # noqa: ARG002
        """Reply at once."""
        calls = 0 if closing else self.workload.calls_of(self.turn)
        reply = AssistantMessage(
            text="One more." if calls else "Done.",
            tool_calls=tuple(self._call(n) for n in range(1, calls + 1)),
        )
        return LlmTurnResult(
            reply=reply,
            usage=Usage(requests=1),
            model_name="talkative",
            context_window=self.workload.window_tokens,
        )

    def _call(self, call: int) -> ToolCall:
        params: JsonValue = {"turn": self.turn, "call": call, "bytes": self.workload.result_bytes}
        return ToolCall(id=f"call-{self.turn}-{call}", tool=TOOL, params=params)


class InProcess(ToolExecutor):
    """Runs the tool within the worker, where a real executor starts a process."""

    async def run(
        self, call: ToolCallInput, *, watch: Callable[[Callable[[], Capture]], None] = lambda _: None
    ) -> ToolSuccess | ToolFailure:
        """Speak."""
        watch(Capture)
        turn, number, size = (call.params[name] for name in ("turn", "call", "bytes"))
        assert isinstance(turn, int)
        assert isinstance(number, int)
        assert isinstance(size, int)
        return ToolSuccess(tool=call.tool, result={"text": spoken(turn, number, size)})


def agent_worker(client: Client, *, queue: str, directory: Path, notes: Notes) -> Worker:
    """Build the worker as the product does; the client's plugins decide what it serves in the end."""

    def open_model(turn: LlmTurnInput, _attempt: int) -> Model:
        notes.turn(turn.turn)
        return Talkative(turn.turn, Workload.named(turn.model))

    return build_worker(
        client,
        queue=queue,
        tools=_tools(directory),
        directory=directory,
        environment={},
        open_model=open_model,
        settings=Settings(state_directory=directory),
    )


def with_tool_in_process(activities: Sequence[Activity], *, directory: Path) -> list[Activity]:
    """Give a worker's activities with the tool in the process, in place of tools on disk."""
    settings = Settings(state_directory=directory)
    executor = InProcess(_tools(directory), directory, {})
    intervals = BeatIntervals(settings.heartbeat_throttle, settings.heartbeat_idle_interval)
    tool_activities = ToolActivities(executor, identity="bench", intervals=intervals)
    return [*(each for each in activities if each.__name__ != "run_tool"), tool_activities.run_tool]


def _tools(directory: Path) -> dict[str, DiskTool]:
    return {TOOL: DiskTool(DEFINITION, directory / TOOL, None)}
