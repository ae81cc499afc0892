"""The seam at which a followed run is shown."""

from typing import Protocol, Unpack

from console.followed_run import FollowedRun
from surefoot.events import Event
from workers.snapshot import Snapshot


class Output(Protocol):
    """Shows one run: `begin`, then events and snapshots as they come, then `end`, also if it was left."""

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Name the run; `ui_url` is None where nobody knows the UI's address."""
        ...

    def show(self, event: Event) -> None:
        """Show the next event of the run's ledger."""
        ...

    def now(self, snapshot: Snapshot) -> None:
        """Show what the run is doing at this moment."""
        ...

    def end(self) -> None:
        """Write what belongs to the end, and leave the terminal as it was."""
        ...
