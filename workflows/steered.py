"""What may be asked of a run, and told to it, while it goes on."""

from abc import abstractmethod
from collections.abc import Callable

from temporalio import workflow

from surefoot.child_run import CHILD_USED_SIGNAL, ChildUsed
from surefoot.conversation import Conversation
from surefoot.events import Event, RunStarted
from surefoot.pages import page_of
from surefoot.run import (
    CANCEL_TOOL_CALL_UPDATE,
    CONVERSATION_QUERY,
    EVENTS_QUERY,
    SLICES_QUERY,
    CancelToolCall,
    ConversationPage,
    ConversationRequest,
    EventsPage,
)
from surefoot.slices import Slice
from surefoot.spent import Used
from workflows.approvable import Approvable
from workflows.controlled import Controlled
from workflows.conversing import Conversing
from workflows.event_log import EventLog
from workflows.notices import Notices
from workflows.pace import Pace
from workflows.refusal import refuse_for
from workflows.slices import Slices
from workflows.sub_agents import SubAgents
from workflows.tool_calls import ToolCalls
from workflows.untrusted import Untrusted
from workflows.visible import Visible


class Steered(Approvable, Conversing, Controlled):
    """A run as others see and steer it: its queries, updates and signals, and the state they are about."""

    def __init__(self) -> None:
        super().__init__()
        self.slices = Slices()
        """What reducers keep; the worker of the run says which."""
        self.listeners: list[Callable[[Event], None]] = []
        """Who hears of each event as it is recorded, in replays, too; the worker of the run says who."""
        self.tools: frozenset[str] = frozenset()
        """The names of the run's tools, as they are defined."""
        self._visible = Visible()
        self._notices = Notices()
        self._log = EventLog(self._hear_event)
        self._conversation = Conversation()
        self._pace = Pace()
        self._sub_agents = SubAgents(self._log.record, self._pace, self._count)
        self._untrusted = Untrusted()
        self._tool_calls = ToolCalls(
            self._log.record, self._pace, self._sub_agents, self._approvals, self.unheld, self._untrusted
        )
        self._updates = 0
        # Here, for an update may be taken before the run has begun.
        if (info := workflow.info()).continued_run_id is None:
            started = RunStarted(time=workflow.now(), workflow_id=info.workflow_id, run_id=info.run_id)
            self._log.record(started)

    def _hear_event(self, event: Event) -> None:
        self.slices.add(event)
        self._visible.hear(event)
        self._notices.hear(event)
        for hear in self.listeners:
            hear(event)

    @property
    def turn(self) -> int:
        """The turn that the run is in, counted from 1; 0 before the first."""
        return self._visible.progress.turn

    def _take_update(self, event: Event) -> None:
        self._updates += 1
        self._record(event)

    def _record(self, event: Event) -> None:
        self._log.record(event)

    def _why_closed(self) -> str | None:
        return self._inbox.closed

    @abstractmethod
    def _count(self, used: Used) -> None:
        """Add what an agent that was called has used to what the run has."""

    @workflow.query(
        name=EVENTS_QUERY, description="The ledger of the run, from an offset on. Takes a number, such as 0."
    )
    def events(self, offset: int) -> EventsPage:
        """Give the ledger's events from `offset` on, as many as fit a page."""
        return self._log.page(offset)

    @workflow.query(
        name=CONVERSATION_QUERY,
        description='A part of the conversation, by position. Takes {"start": 0, "end": 10}.',
    )
    def conversation(self, request: ConversationRequest) -> ConversationPage:
        """Give messages from `start` up to `end`, as many as fit a page."""
        said = self._conversation
        return ConversationPage(messages=page_of(said.between(request.start, request.end)), base=said.base)

    @workflow.query(
        name=SLICES_QUERY, description="What the reducers of the run's worker keep, by name. Takes nothing."
    )
    def told_slices(self) -> dict[str, Slice]:
        """Give the slices of the run's state, of reducers that are gone, too."""
        return self.slices.told()

    @workflow.update(
        name=CANCEL_TOOL_CALL_UPDATE,
        description="Stop one tool call; the model is told TOOL_CANCELLED, and the run goes on. "
        'Takes {"tool_exec_id": "3-1"}.',
    )
    def cancel_tool_call(self, request: CancelToolCall) -> None:
        """Ask for one running or waiting call to be stopped; the ledger tells when it has ended."""
        self._updates += 1
        self._tool_calls.cancel(request.tool_exec_id)

    @cancel_tool_call.validator
    def _check_cancel_tool_call(self, request: CancelToolCall) -> None:
        refuse_for(self._tool_calls.why_not_cancellable(request.tool_exec_id))

    @workflow.signal(
        name=CHILD_USED_SIGNAL,
        description="What a cancelled run of a called agent has used; only such runs send it.",
    )
    def child_used(self, told: ChildUsed) -> None:
        """Take note of what a child used that is about to end as cancelled."""
        self._sub_agents.tell_used(told.workflow_id, told.used)
