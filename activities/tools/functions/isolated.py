"""A function as a tool in a process of its own, which is killed like any executable."""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from activities.interface import Capture, ToolCallInput
from activities.tools.disk_tool import run_executable
from activities.tools.executor import Surroundings
from activities.tools.functions.address import Address
from surefoot.definition import ToolDefinition
from surefoot.outcome import ToolFailure, ToolSuccess

_log = logging.getLogger(__name__)

_CHILD = ("-P", "-u", "-X", "utf8", "-m", "activities.tools.functions.child")
"""Nothing in the working directory takes the place of a module, and what is printed is not held back."""


@dataclass(frozen=True)
class IsolatedTool:
    """A function that is called in a child process; starting one takes some tenths of a second."""

    definition: ToolDefinition
    origin: str
    address: Address

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        """Call the function once; `Tool.run` says how it ends."""
        captured: list[Callable[[], Capture]] = []

        def watch(capture: Callable[[], Capture]) -> None:
            captured.append(capture)
            surroundings.watch(capture)

        outcome = await run_executable(
            Path(sys.executable),
            call,
            replace(surroundings, watch=watch),
            definition=self.definition,
            before_params=(*_CHILD, self.address.to_json()),
        )
        match outcome:
            case ToolSuccess(result={"success": False}):
                stderr = captured[0]().stderr
                _log.error("tool %s failed in the call %s:\n%s", call.tool, call.call_id, stderr)
            case _:
                pass
        return outcome
