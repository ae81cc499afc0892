"""The ledger of a run rebuilt from its history by the code of the workflow: no worker is asked for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    Replayer,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInstance,
    WorkflowInstanceDetails,
    WorkflowInterceptorClassInput,
)

from surefoot.events import Event
from workers.runtime import replaying_runtime
from workflows.agent import Agent
from workflows.payloads import UNDECODABLE, UnreadableError

_COMPLETED = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
_OF_UPDATES = (
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
)


class NotReplayableError(RuntimeError):
    """One sentence on a history that this release cannot replay."""


@dataclass(frozen=True)
class RebuiltLedger:
    """The part of a chain's ledger that one of its runs holds."""

    first_offset: int
    events: tuple[Event, ...]


async def rebuild_ledger(history: WorkflowHistory, converter: DataConverter) -> RebuiltLedger | None:
    """Give the ledger as it stood after the last workflow task that completed; None before the first one.

    It takes about as long as a worker needs to replay the run, on one core.

    Raises:
        UnreadableError: the converter does not have the keys that the history needs.
        NotReplayableError: another release wrote the history, or it is no run of Surefoot's.
    """
    completed = _completed_part(history)
    if completed is None:
        return None
    reading = _Reading()
    decoding = _Decoding(converter.payload_codec) if converter.payload_codec is not None else None
    replayer = Replayer(
        workflows=[Agent],
        workflow_runner=reading,
        data_converter=replace(converter, payload_codec=decoding),
        interceptors=[reading.interceptor],
        # Nobody waits for a task here, so that a slow one is no deadlock.
        debug_mode=True,
        runtime=replaying_runtime(),
    )
    replayed = await replayer.replay_workflow(completed, raise_on_replay_failure=False)
    if replayed.replay_failure is not None or reading.interceptor.agent is None:
        if decoding is not None and decoding.refused is not None:
            raise decoding.refused
        raise NotReplayableError(
            "what happened cannot be told from the history: another release of Surefoot wrote it, "
            "and only a worker of that release can read it"
        )
    return RebuiltLedger(reading.first_offset, tuple(reading.events))


def _completed_part(history: WorkflowHistory) -> WorkflowHistory | None:
    """Give the history up to what its last completed task did.

    What came after it will only be worked on by a task that may bring more, at another time.
    """
    completed = [n for n, event in enumerate(history.events) if event.event_type == _COMPLETED]
    if not completed:
        return None
    end = completed[-1] + 1
    while end < len(history.events) and _was_done_by_a_task(history.events[end]):
        end += 1
    return WorkflowHistory(history.workflow_id, history.events[:end])


def _was_done_by_a_task(event: HistoryEvent) -> bool:
    attributes = getattr(event, event.WhichOneof("attributes") or "")
    return event.event_type in _OF_UPDATES or hasattr(attributes, "workflow_task_completed_event_id")


class _Reading(UnsandboxedWorkflowRunner):
    """Reads the ledger as it grows.

    The code that it runs is this process's own, which runs nothing else of it: nothing is to be kept apart.
    """

    def __init__(self) -> None:
        self.first_offset = 0
        self.events: list[Event] = []
        self.interceptor = _Interceptor()

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        instance = super().create_instance(det)
        activate = instance.activate

        def activate_and_read(act: WorkflowActivation) -> WorkflowActivationCompletion:
            completion = activate(act)
            # A run that is let go of cancels all that it waits for, and may tell of it.
            if not any(job.HasField("remove_from_cache") for job in act.jobs):
                self._read()
            return completion

        instance.activate = activate_and_read
        return instance

    def _read(self) -> None:
        agent, more = self.interceptor.agent, True
        while agent is not None and more:
            wanted = self.first_offset + len(self.events)
            page = agent.events(wanted)
            self.first_offset = max(self.first_offset, page.first_offset)
            self.events += page.events
            more = page.more or page.first_offset > wanted


class _Decoding(PayloadCodec):
    """Remembers what another codec could not decode: a replay that fails of it tells only its own words."""

    def __init__(self, codec: PayloadCodec) -> None:
        self._codec = codec
        self.refused: UnreadableError | None = None

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return await self._codec.encode(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        try:
            decoded = await self._codec.decode(payloads)
        except UnreadableError as error:
            self.refused = error
            raise
        for payload in decoded:
            if payload.metadata.get("encoding") == UNDECODABLE:
                self.refused = UnreadableError(payload.data.decode("utf-8", "replace"))
        return decoded


class _Interceptor(Interceptor):
    """Takes hold of the workflow that is replayed."""

    def __init__(self) -> None:
        self.agent: Agent | None = None

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002  the SDK gives it by this name
    ) -> type[WorkflowInboundInterceptor] | None:
        interceptor = self

        class Inbound(WorkflowInboundInterceptor):
            async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401  the SDK's own
                interceptor.agent = workflow.instance()
                return await super().execute_workflow(input)

        return Inbound
