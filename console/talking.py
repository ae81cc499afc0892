"""A conversation with a session: each message that is typed is sent, and its answer waited for."""

import asyncio
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress

from temporalio.client import Client

from console.approving import Approving
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.heard import Heard
from console.held_notice import HeldNotice
from console.interrupt import Interrupt
from console.lines import write_line
from console.open_questions import still_open
from console.output import Output
from console.safe_text import safe_text
from console.typed_messages import TypedMessages
from console.watching import PATIENCE, command_on, exit_code_of
from surefoot.events import (
    ApprovalRequested,
    Event,
    RunFinished,
)
from surefoot.run import SendMessage
from workers.authority_key import AuthorityKey
from workers.following import follow
from workers.sessions import end_session, tell_session
from workers.snapshot import Snapshot
from workers.updates import UnansweredError, UpdateRefusedError

HELP = (
    "A backslash at the end of a line goes on with the next one. /end or Ctrl-D ends the session; "
    "Ctrl-C leaves it as it is, to be resumed."
)


class OwnMessages:
    """The ids of the messages that were typed here."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def __call__(self, message_id: str) -> bool:
        """Tell whether a message was typed here."""
        return message_id in self._ids

    def new(self) -> str:
        """Make up an id."""
        self._ids.add(message_id := f"chat-{secrets.token_hex(8)}")
        return message_id


class Talk:
    """One conversation, from its first message to its end, or until it is left."""

    def __init__(
        self,
        output: Output,
        own: OwnMessages,
        *,
        address: str | None,
        interactive: bool,
        asks: bool = False,
        key: AuthorityKey | None = None,
    ) -> None:
        """`address` is what commands about the run have to name; None is the embedded server.

        With `asks`, whoever types is asked about calls that wait for approval, and signs with the `key`.
        """
        self._asks = asks
        self._key = key
        self._output = output
        self._own = own
        self._address = address
        self._interactive = interactive
        self._typed = TypedMessages(sys.stdin.fileno(), terminal=sys.stdin.isatty())
        self._heard = Heard()
        self._known = 0

    def go_on_after(self, events: Iterable[Event]) -> None:
        """Show of these the last exchange, and then only what comes after them."""
        for event in events:
            self._heard.hear(event)
            self._known += 1
        if self._interactive:
            for event in (self._heard.last_message, self._heard.last_answer):
                if event is not None:
                    self._output.show(event)

    async def __call__(self, client: Client, workflow_id: str, interrupt: Interrupt) -> ExitCode:
        """Talk until the session has ended, or the command is asked to end.

        Raises:
            RunUnknownError, RPCError: as `follow` does.
            CommandError: a message is not taken that was not typed at a terminal.
        """
        if self._interactive:
            write_line(sys.stderr, HELP)
        approving = Approving(
            client,
            workflow_id,
            self._output,
            address=self._address,
            asks=self._asks,
            children=self._asks,
            key=self._key,
            lines=self._typed,
        )
        listening = asyncio.create_task(self._listen(client, workflow_id, approving))
        talking = asyncio.create_task(self._talk(client, workflow_id, approving))
        try:
            await interrupt.first(listening, talking)
            if talking.done() and not interrupt.asked.is_set():
                talking.result()
                await interrupt.first(listening)
        finally:
            await approving.close()
            self._output.end()
            for task in (listening, talking):
                if not task.done():
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
        return ExitCode.DETACHED if listening.cancelled() else exit_code_of(listening.result())

    async def _listen(self, client: Client, workflow_id: str, approving: Approving) -> RunFinished:
        held = HeldNotice(command_on("resume", workflow_id, self._address))
        before: list[Event] | None = []
        number = 0
        async for seen in follow(client, workflow_id, patience=PATIENCE):
            if isinstance(seen, Snapshot):
                self._output.now(seen)
                if before is not None:
                    self._catch_up(before, approving)
                    before = None
                for line in (*held.due(), *approving.due()):
                    write_line(sys.stderr, line)
                continue
            held.hear(seen)
            number += 1
            if number > self._known:
                self._output.show(seen)
                self._heard.hear(seen)
            if before is None:
                approving.hear(seen)
            else:
                before.append(seen)
            if isinstance(seen, RunFinished):
                return seen
        raise AssertionError("a run that is followed always finishes")

    def _catch_up(self, before: list[Event], approving: Approving) -> None:
        """Ask about what waits already; what was decided before somebody looked is no question any more."""
        known = before[: self._known]
        for event in still_open(before):
            if isinstance(event, ApprovalRequested) and event in known:
                self._output.show(event)
            approving.hear(event)

    async def _talk(self, client: Client, workflow_id: str, approving: Approving) -> None:
        while self._heard.finished is None:
            await self._heard.until(lambda: not self._heard.works)
            text = await self._ask(approving)
            match text if text is None else text.strip():
                case None | "/end":
                    await self._end(client, workflow_id)
                    return
                case "":
                    continue
                case "/help":
                    write_line(sys.stderr, HELP)
                case _:
                    await self._say(client, workflow_id, text or "")

    async def _ask(self, approving: Approving) -> str | None:
        while True:
            await approving.until(asks=False)
            self._prompt("> ")
            typing = asyncio.create_task(self._typed.next())
            asked = asyncio.create_task(approving.until(asks=True))
            try:
                await asyncio.wait({typing, asked}, return_when=asyncio.FIRST_COMPLETED)
                if typing.done():
                    break
            finally:
                # What somebody else has said to the session may have it ask in the middle of a line.
                for task in (typing, asked):
                    task.cancel()
                await asyncio.wait({typing, asked})
        if (text := typing.result()) is None:
            self._prompt("\n")
        return text

    def _prompt(self, text: str) -> None:
        if self._interactive:
            sys.stderr.write(text)
            sys.stderr.flush()

    async def _say(self, client: Client, workflow_id: str, text: str) -> None:
        message = SendMessage(text=text, message_id=self._own.new())
        try:
            await self._send(client, workflow_id, message)
        except UpdateRefusedError as error:
            if self._heard.finished is None and not self._interactive:
                raise CommandError(str(error)) from None
            write_line(sys.stderr, safe_text(str(error)))
            return
        await self._heard.until(
            lambda: message.message_id in self._heard.answered or self._heard.finished is not None
        )

    async def _send(self, client: Client, workflow_id: str, message: SendMessage) -> None:
        told = False
        while message.message_id not in self._heard.received:
            try:
                await tell_session(client, workflow_id, message)
            except UnansweredError:
                if not told:
                    write_line(sys.stderr, "no worker answers for the session yet; the message waits for one")
                told = True
            else:
                return

    async def _end(self, client: Client, workflow_id: str) -> None:
        while self._heard.finished is None:
            try:
                await end_session(client, workflow_id)
            except UpdateRefusedError:
                # Somebody else has said something in the meantime.
                await asyncio.sleep(PATIENCE.total_seconds() / 10)
            except UnansweredError as error:
                raise CommandError(str(error), ExitCode.RUN_FAILED) from None
            else:
                return
