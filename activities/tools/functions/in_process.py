"""A function as a tool in the worker's own process."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from activities.interface import Capture, ToolCallInput
from activities.tools.environment import ARTIFACTS_DIRECTORY
from activities.tools.executor import Surroundings
from activities.tools.functions.invocation import Invocation, OutOfTime, Returned
from activities.tools.functions.threads import Raised, Threads
from surefoot.current_call import CurrentCall
from surefoot.definition import ToolDefinition
from surefoot.failures import Captured, invalid_json, not_started, output_too_large, raised, timed_out
from surefoot.function_answer import NoAnswerError, answer_json, answer_to, failed_answer
from surefoot.function_definition import FunctionTool
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.reply import check_answer
from surefoot.sizes import MAX_ANSWER_BYTES
from surefoot.strict_json import NotStrictJsonError, strict_json
from surefoot.truncation import keep_ends

_log = logging.getLogger(__name__)

_CANNOT_START = 126

_TOO_MANY = (
    "{} calls of functions that have ended still occupy threads of its worker, which cannot be stopped; "
    "restart the worker"
)


@dataclass(frozen=True)
class InProcessTool:
    """A function that is called in this process: it costs nothing to call, and cannot be killed."""

    tool: FunctionTool
    origin: str
    threads: Threads

    @property
    def definition(self) -> ToolDefinition:
        """What the model sees, and how its calls are run."""
        return self.tool.definition

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        """Call the function once; `Tool.run` says how it ends."""
        current, hide = _current(call, surroundings), surroundings.secrets.scrubber.text
        invocation = Invocation(self.tool.function, current, threads=self.threads, hide=hide)
        if invocation.in_a_thread and self.threads.full:
            return not_started(call.tool, _CANNOT_START, _TOO_MANY.format(self.threads.left_behind))
        surroundings.watch(lambda: Capture(stderr=invocation.note))
        arguments = partial(self.tool.parameters.arguments, call.params)
        ending = await invocation.run(arguments, seconds=call.timeout_seconds)
        try:
            match ending:
                case OutOfTime():
                    captured = Captured(stderr=invocation.note)
                    return timed_out(call.tool, timedelta(seconds=call.timeout_seconds), captured)
                case Returned(value=value):
                    return await self._answered(answer_to(value, self.tool.form), surroundings)
                case Raised(error=error):
                    return await self._failed(error, call, surroundings)
        except Exception as error:  # noqa: BLE001  what the author made may raise when it is read, too
            self._note(call, error)
            return raised(call.tool, _named(error))

    async def _failed(
        self, error: BaseException, call: ToolCallInput, surroundings: Surroundings
    ) -> ToolSuccess | ToolFailure:
        self._note(call, error)
        if not isinstance(error, Exception):
            # It is nothing that the contract answers for: SystemExit, or a cancellation from elsewhere.
            return raised(call.tool, _named(error))
        params = self.tool.parameters.with_defaults(call.params)
        return await self._answered(failed_answer(error, self.tool.form, params), surroundings)

    async def _answered(
        self, answer: dict[str, object], surroundings: Surroundings
    ) -> ToolSuccess | ToolFailure:
        try:
            text = answer_json(answer)
        except NoAnswerError as error:
            return self._no_json(str(error), "")
        if len(text) > MAX_ANSWER_BYTES:
            return output_too_large(
                self.definition.name, self._captured(text), size_bytes=len(text.encode("utf-8", "replace"))
            )
        return await surroundings.read(partial(self._checked, text), size_bytes=len(text))

    def _checked(self, text: str) -> ToolSuccess | ToolFailure:
        try:
            answer = strict_json(text)
        except NotStrictJsonError as error:
            return self._no_json(str(error), text)
        return check_answer(
            self.definition.name,
            answer,
            captured=lambda: self._captured(text),
            output_schema=self.definition.output_schema,
            exit_code=None,
        )

    def _no_json(self, reason: str, text: str) -> ToolFailure:
        stderr = keep_ends(f"what it returned is no JSON: {reason}\n", self.definition.limits.stderr)
        captured = Captured(self._captured(text).stdout, stderr)
        return invalid_json(self.definition.name, captured, exit_code=None)

    def _captured(self, text: str) -> Captured:
        return Captured(stdout=keep_ends(text, self.definition.limits.stdout))

    def _note(self, call: ToolCallInput, error: BaseException) -> None:
        _log.error("tool %s failed in the call %s", call.tool, call.call_id, exc_info=error)


def _current(call: ToolCallInput, surroundings: Surroundings) -> CurrentCall:
    artifacts = surroundings.environment.get(ARTIFACTS_DIRECTORY)
    return CurrentCall(
        id=call.call_id,
        directory=surroundings.directory,
        timeout_seconds=call.timeout_seconds,
        artifacts=None if artifacts is None else Path(artifacts),
    )


def _named(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # noqa: BLE001  it cannot even say what it is
        return type(error).__name__
