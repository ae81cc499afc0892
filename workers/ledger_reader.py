"""Reading the one ledger of a chain of runs: closed runs from their histories, the open one by query."""

from dataclasses import dataclass, replace
from datetime import timedelta

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowHistory,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from surefoot.events import Event
from surefoot.run import EVENTS_QUERY, EventsPage
from workers.chain import runs_up_to
from workers.rebuilt_ledger import NotReplayableError, RebuiltLedger, rebuild_ledger
from workers.snapshot import has_ended

_NEVER = ("", 0)


class RunUnknownError(RuntimeError):
    """One sentence on a run that the server does not know."""


@dataclass(frozen=True)
class Part:
    """The next events of a ledger, as many as came at once."""

    events: tuple[Event, ...] = ()
    more: bool = False
    """Whether there is more to be read right away."""
    served: bool = True
    """Whether a worker answered, if one was asked."""
    unreadable: str | None = None
    """Why the next events cannot be read without a worker, in one sentence."""


_GO_ON = Part(more=True)


class LedgerReader:
    """Gives each event of a chain's ledger once, in order.

    A worker that is asked about a closed run replays it for every page of the answer, so that such a run is
    rebuilt here, and a worker is asked only if that fails. An open run is asked by its workflow id, and
    rebuilt while nobody serves it.
    """

    def __init__(self, client: Client, workflow_id: str, *, patience: timedelta) -> None:
        """A worker that does not answer within `patience` counts as away."""
        self._client = client
        self._workflow_id = workflow_id
        self._patience = patience
        self._offset = 0
        self._behind: list[str] = []
        self._read_up_to: str | None = None
        self._unserved_at = _NEVER
        self._unserved = Part(served=False)

    async def read(self, newest: WorkflowExecutionDescription) -> Part:
        """Give what comes next, by the latest description of the chain's newest run.

        Raises:
            RunUnknownError: there is no such run any more.
            UnreadableError: the client does not have the keys of what it says.
            RPCError: the server did not answer.
        """
        if self._behind:
            return await self._read_closed(self._behind[0])
        if has_ended(newest.status):
            done = newest.run_id == self._read_up_to
            return Part() if done else await self._go_back(newest.run_id or "")
        page = await self._ask(None)
        if page is None:
            return await self._read_unserved(newest)
        if page.first_offset > self._offset and page.continued_from not in (None, self._read_up_to):
            return await self._go_back(page.continued_from or "")
        return self._take(page)

    async def _go_back(self, run_id: str) -> Part:
        """Read all that is not read up to a closed run, that one included."""
        self._behind = await runs_up_to(self._client, self._workflow_id, run_id, after=self._read_up_to)
        if not self._behind:
            self._read_up_to = run_id
        return _GO_ON

    async def _read_closed(self, run_id: str) -> Part:
        try:
            rebuilt = await self._rebuild(run_id)
        except NotReplayableError as error:
            return await self._ask_closed(run_id, why=str(error))
        self._read_up_to = self._behind.pop(0)
        return replace(self._take_rebuilt(rebuilt), more=True)

    async def _ask_closed(self, run_id: str, *, why: str) -> Part:
        page = await self._ask(run_id)
        if page is None:
            return Part(served=False, unreadable=why)
        part = self._take(page)
        if not part.more:
            self._read_up_to = self._behind.pop(0)
        return replace(part, more=True)

    async def _read_unserved(self, newest: WorkflowExecutionDescription) -> Part:
        run_id = newest.run_id or ""
        if (run_id, newest.history_length) == self._unserved_at:
            return self._unserved
        *self._behind, _ = await runs_up_to(
            self._client, self._workflow_id, run_id, after=self._read_up_to
        ) or [""]
        if self._behind:
            return _GO_ON
        self._unserved_at = (run_id, newest.history_length)
        try:
            self._unserved = Part(served=False)
            return replace(self._take_rebuilt(await self._rebuild(run_id)), served=False)
        except NotReplayableError as error:
            self._unserved = Part(served=False, unreadable=str(error))
            return self._unserved

    async def _rebuild(self, run_id: str) -> RebuiltLedger | None:
        run = self._client.get_workflow_handle(self._workflow_id, run_id=run_id)
        try:
            history = await run.fetch_history()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            history = WorkflowHistory(self._workflow_id, [])
        return await rebuild_ledger(history, self._client.data_converter)

    async def _ask(self, run_id: str | None) -> EventsPage | None:
        """Ask for the ledger from the offset on; None when no worker answered."""
        run = self._client.get_workflow_handle(self._workflow_id, run_id=run_id)
        try:
            return await run.query(
                EVENTS_QUERY, self._offset, result_type=EventsPage, rpc_timeout=self._patience
            )
        except WorkflowQueryFailedError:
            return None
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                raise RunUnknownError(f"there is no run '{self._workflow_id}'") from None
            # Without a worker the query times out, or the server says at once that nobody can answer.
            return None

    def _take(self, page: EventsPage) -> Part:
        if page.first_offset > self._offset:
            # The runs before it are deleted.
            self._offset = page.first_offset
            return _GO_ON
        self._offset = page.next_offset
        return Part(page.events, more=page.more)

    def _take_rebuilt(self, rebuilt: RebuiltLedger | None) -> Part:
        if rebuilt is None:
            return Part()
        known = max(self._offset - rebuilt.first_offset, 0)
        self._offset = max(self._offset, rebuilt.first_offset + len(rebuilt.events))
        return Part(rebuilt.events[known:])
