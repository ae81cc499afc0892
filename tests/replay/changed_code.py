"""Code of runs as it must not be: what replays of the recorded histories have to notice, and a mistake."""

from datetime import timedelta

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from surefoot.ledger import Event, ToolExecutionCompleted
from surefoot.run import WORKFLOW, RunResult
from workflows.agent import Agent
from workflows.bugs import BUGS

_NO_INPUT = RawValue(Payload())


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Stumbling(Agent):
    """A run with a mistake in its code, met when the first call was answered."""

    @workflow.run
    async def run(self, raw_input: RawValue = _NO_INPUT) -> RunResult:
        """Run until the mistake."""
        return await super().run(raw_input)

    def _record(self, event: Event) -> None:
        if isinstance(event, ToolExecutionCompleted):
            raise LookupError("there is no such place")  # noqa: TRY004  a mistake, not a check
        super()._record(event)


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Sleeping(Agent):
    """A run that begins with a timer where it began with an activity."""

    @workflow.run
    async def run(self, raw_input: RawValue = _NO_INPUT) -> RunResult:
        """Sleep first."""
        await workflow.sleep(timedelta(seconds=1))
        return await super().run(raw_input)
