"""How fast a run's history grows: bytes and events per turn, with tool results of 2 KB.

python -m bench.history [--turns 200] [--result-bytes 2048]
"""

import argparse
import asyncio
import os
import stat
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from activities.interface import LlmTurnInput, LlmTurnResult
from activities.model import Model
from activities.tools.discovery import discover_tools
from surefoot.conversation import AssistantMessage, Message, ToolCall
from surefoot.limits import Limits
from surefoot.run import RunInput
from surefoot.usage import Usage
from workers.embedded_server import embedded_server
from workers.settings import Settings
from workers.starting import start_run
from workers.worker import build_worker

MAX_HISTORY_BYTES = 1_500_000
"""What 200 turns with 2 KB results may cost; a loop that sends the whole conversation takes 46 MB."""

MANIFEST = '{"name": "speak", "description": "Gives text.", "inputSchema": {"type": "object"}}'


@dataclass(frozen=True)
class Talkative:
    """A model that calls the same tool in every turn but the last."""

    turns: int

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        """Ask for one more result, or answer."""
        turn = sum(isinstance(message, AssistantMessage) for message in messages) + 1
        call = ToolCall(id=f"call-{turn}", tool="speak", params={"turn": turn})
        reply = (
            AssistantMessage(text="Done.")
            if closing or turn == self.turns
            else AssistantMessage(text="One more.", tool_calls=(call,))
        )
        return LlmTurnResult(reply=reply, usage=Usage(requests=1), model_name="talkative")


@dataclass(frozen=True)
class Figures:
    """What one run cost."""

    turns: int
    events: int
    history_bytes: int
    seconds: float


async def measure(turns: int, result_bytes: int) -> Figures:
    """Run an agent on the embedded server, in a directory of its own, and weigh its history."""
    with tempfile.TemporaryDirectory() as directory:
        tools = _speaking_tool(Path(directory) / "tools", result_bytes)
        settings = Settings(state_directory=Path(directory) / "state")

        def open_model(_turn: LlmTurnInput, _attempt: int) -> Model:
            return Talkative(turns)

        async with embedded_server(settings) as server:
            worker = build_worker(
                server.client,
                queue="bench",
                tools=discover_tools([tools]).tools,
                directory=Path(directory),
                environment=os.environ,
                open_model=open_model,
                settings=settings,
            )
            async with worker:
                run = RunInput(prompt="Speak.", model="talkative", limits=Limits(max_turns=turns))
                began = time.perf_counter()
                handle = await start_run(server.client, run, workflow_id="bench", queue="bench")
                await handle.result()
                seconds = time.perf_counter() - began
            described = (await handle.describe()).raw_description.workflow_execution_info
            return Figures(turns, described.history_length, described.history_size_bytes, seconds)


def _speaking_tool(directory: Path, result_bytes: int) -> Path:
    directory.mkdir()
    (directory / "speak.tool.json").write_text(MANIFEST)
    executable = directory / "speak"
    executable.write_text(f"#!/bin/sh\nprintf '\"%0{result_bytes}d\"' 0\n")
    executable.chmod(executable.stat().st_mode | stat.S_IXUSR)
    return directory


def main() -> int:
    """Print the figures; 1 when 200 turns of 2 KB cost more than they may."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--result-bytes", type=int, default=2048)
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.turns, arguments.result_bytes))
    print(f"turns                {figures.turns:>12,}")
    print(f"bytes of history     {figures.history_bytes:>12,}")
    print(f"bytes per turn       {figures.history_bytes / figures.turns:>12,.0f}")
    print(f"events per turn      {figures.events / figures.turns:>12.1f}")
    print(f"milliseconds a turn  {1000 * figures.seconds / figures.turns:>12.1f}")
    allowed = MAX_HISTORY_BYTES * figures.turns / 200
    return int(arguments.result_bytes <= 2048 and figures.history_bytes > allowed)


if __name__ == "__main__":
    # A short process that used the SDK can crash in its threads while the interpreter shuts down.
    exit_code = main()
    sys.stdout.flush()
    os._exit(exit_code)
