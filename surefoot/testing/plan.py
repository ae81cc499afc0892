"""What becomes of which call of a run's fakes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from surefoot import failures
from surefoot.admission import Admitted, admit
from surefoot.conversation import Message, ToolCall, ToolMessage
from surefoot.definition import ToolDefinition
from surefoot.events import (
    Event,
    ExecutionError,
    ToolExecutionFailed,
)
from surefoot.failures import Captured
from surefoot.outcome import REPORTABLE, ToolFailure
from surefoot.testing.behaviour import NOT_PICKED_UP, Behaviour, Fails
from surefoot.testing.fake_tool import FakeTool

_NOTHING_WAS_TOLD = Fails("TOOL_CRASHED", reason="nobody told this fake what to do")


@dataclass(frozen=True)
class ExpectedCall:
    """A call that the run is about to make."""

    tool_exec_id: str
    tool: FakeTool
    told: Behaviour

    @property
    def queue(self) -> str:
        """Where the call waits to be picked up."""
        return self.tool.definition.executor_queue or ""

    @property
    def picked_up(self) -> bool:
        """Whether anybody is there for it."""
        return not (isinstance(self.told, Fails) and self.told.error_code == NOT_PICKED_UP)


class Plan:
    """Deals out what the fakes were told, call by call, in the order in which the model asks for them."""

    def __init__(self, tools: Sequence[FakeTool], definitions: Sequence[ToolDefinition]) -> None:
        """Plan for these fakes; `definitions` are those of all tools of the run."""
        self._tools = {tool.name: tool for tool in tools}
        self._definitions = definitions
        self._calls: Counter[str] = Counter()
        self._expected: dict[str, ExpectedCall] = {}
        self._claims: dict[str, ToolFailure] = {}

    def expect(self, calls: Sequence[ToolCall], *, turn: int) -> list[ExpectedCall]:
        """Settle what becomes of a turn's calls; those that are refused before they are made do not count."""
        expected: list[ExpectedCall] = []
        for n, decision in enumerate(admit(calls, self._definitions), 1):
            tool = self._tools.get(decision.call.tool)
            if isinstance(decision, Admitted) and tool is not None:
                expected.append(self._expect(f"{turn}-{n}", tool))
        return expected

    def _expect(self, tool_exec_id: str, tool: FakeTool) -> ExpectedCall:
        known = self._expected.get(tool_exec_id)
        # A turn of the model that is tried again asks for the same calls again.
        if known is None or known.tool is not tool:
            told = tool.behaviour(self._calls[tool.name]) or _NOTHING_WAS_TOLD
            self._calls[tool.name] += 1
            self._expected[tool_exec_id] = ExpectedCall(tool_exec_id, tool, told)
        return self._expected[tool_exec_id]

    def told(self, tool_exec_id: str) -> Behaviour:
        """Tell what becomes of an expected call."""
        return self._expected[tool_exec_id].told

    def claim(self, tool: str, failure: ToolFailure) -> None:
        """Take note of a failure that a fake reports, for no run takes some of them from an executor."""
        if failure.error_code not in REPORTABLE:
            captured = Captured(failure.stdout, failure.stderr)
            taken_for = failures.reported(tool, failure.error_code, failure.error, captured)
            self._claims[taken_for.error] = failure

    def message(self, message: Message) -> Message:
        """Give a message of the run with what the fake was told, if the run did not take it from it."""
        match message:
            case ToolMessage(outcome=ToolFailure() as outcome):
                return message.model_copy(update={"outcome": self._claims.get(outcome.error, outcome)})
            case _:
                return message

    def event(self, event: Event) -> Event:
        """Give an event of the run with what the fake was told, if the run did not take it from it."""
        match event:
            case ToolExecutionFailed(outcome=outcome) if outcome.error in self._claims:
                failure = self._claims[outcome.error]
                error = ExecutionError(message=failure.error, code=failure.error_code)
                return event.model_copy(
                    update={"outcome": failure, "error": error, "acted": failures.acted(failure)}
                )
            case _:
                return event
