"""The clock of a test's server, which can be made to run ahead."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from temporalio.testing import WorkflowEnvironment

_MARGIN = timedelta(milliseconds=200)


@dataclass(frozen=True)
class Clock:
    """Lets time pass at once, even while a tool call is pending: by itself the server skips none of that."""

    server: WorkflowEnvironment

    async def now(self) -> datetime:
        """Tell what time it is there."""
        return await self.server.get_current_time()

    async def skip(self, duration: timedelta) -> None:
        """Let time pass; the call that it passes in must not end meanwhile."""
        await self.server.sleep(duration)

    async def skip_to_just_before(self, moment: datetime) -> None:
        """Let time pass until the server is about to end a call; the rest of it passes by itself.

        The server counts who holds its clock. If it ends the call before the leap is over, it counts one too
        few, and may answer nobody any more.
        """
        left = moment - await self.now() - _MARGIN
        if left > timedelta(0):
            await self.skip(left)
