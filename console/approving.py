"""What somebody who looks at a run has to do with calls that wait for approval."""

import asyncio
import sys
from collections.abc import Iterator

from temporalio.client import Client

from console.approval_notice import ApprovalNotice
from console.approval_text import approval_lines
from console.asking import Asker, Lines
from console.child_runs import ChildRuns
from console.command_line import command_on
from console.lines import write_line
from console.safe_text import safe_line
from surefoot.events import (
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    Event,
)
from workers.authority_key import AuthorityKey


class Approving:
    """Asks, or tells how to decide, about the calls of a run; with `children` of those below it, too."""

    def __init__(
        self,
        client: Client,
        workflow_id: str,
        output: object,
        *,
        address: str | None,
        asks: bool,
        children: bool,
        key: AuthorityKey | None = None,
        lines: Lines | None = None,
    ) -> None:
        """`address` is what commands have to name; `asks` is for somebody at the terminal.

        Of calls whose decisions have to be signed nobody is asked without a `key`, but told how to decide.
        Replies are read from `lines`, else from stdin.
        """
        self._workflow_id = workflow_id
        self._asker = asker = Asker(client, output, key, lines) if asks else None
        self._asking = asyncio.create_task(self._asker.ask()) if self._asker is not None else None
        self._notice = ApprovalNotice(
            lambda name, run, call: command_on(name, run, address, call),
            lambda asked: asker is None or asker.leaves(asked),
        )
        self._children = ChildRuns(client, self._hear_child) if children else None

    def hear(self, event: Event) -> None:
        """Take note of an event of the run that was shown just now."""
        self._hear(self._workflow_id, event)
        if self._children is not None:
            self._children.hear(event)

    def due(self) -> Iterator[str]:
        """Give the lines that are due on calls that nobody is asked about."""
        yield from self._notice.due()

    async def until(self, *, asks: bool) -> None:
        """Wait until somebody is asked here, or until nobody is."""
        if self._asker is not None:
            await self._asker.until(asks=asks)
        elif asks:
            await asyncio.Event().wait()

    async def close(self) -> None:
        """Ask no more."""
        if self._children is not None:
            await self._children.close()
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    def _hear(self, workflow_id: str, event: Event) -> None:
        self._notice.hear(workflow_id, event)
        if self._asker is not None:
            self._asker.hear(workflow_id, event)

    def _hear_child(self, workflow_id: str, event: Event) -> None:
        # Nobody shows what happens there.
        if isinstance(event, ApprovalRequested | ApprovalGiven | ApprovalDenied):
            for line in approval_lines(event):
                write_line(sys.stderr, f"  in run {safe_line(workflow_id)}: {line}")
        self._hear(workflow_id, event)
