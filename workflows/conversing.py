"""A run as it is spoken to: the messages that it takes, and how a session waits for the next one."""

import asyncio
from abc import abstractmethod
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow

from surefoot.events import (
    Answered,
    Event,
    MessageReceived,
)
from surefoot.inbox import Inbox
from surefoot.run import END_SESSION_UPDATE, SEND_MESSAGE_UPDATE, EndSession, SendMessage, Session
from surefoot.turn import Finish
from workflows.refusal import refuse_for

_POLITELY = EndSession()


class Conversing:
    """The updates `send_message` and `end_session`, and the state that they are about."""

    def __init__(self) -> None:
        super().__init__()
        self._inbox = Inbox()
        self._answered_turn = 0
        self._listens = False

    @abstractmethod
    def _take_update(self, event: Event) -> None:
        """Count an update that was taken, and record what it did."""

    @abstractmethod
    def _record(self, event: Event) -> None:
        """Add an event to the ledger."""

    async def _listen(self, session: Session, answer: Finish | None, *, turn: int) -> None:
        """Record an answer of a session, once, and wait for the next message, or until it is to end.

        What waits afterwards, if anything, is a message; else the session is over.
        """
        if answer is not None and turn > self._answered_turn:
            self._answered_turn = turn
            answers = self._inbox.unanswered
            self._inbox = self._inbox.answered()
            self._record(
                Answered(
                    time=workflow.now(),
                    turn=turn,
                    answer=answer.answer,
                    output=answer.output,
                    answers=answers,
                )
            )
        self._listens = True
        idle = None if session.idle_seconds is None else timedelta(seconds=session.idle_seconds)
        with suppress(asyncio.TimeoutError):
            await workflow.wait_condition(
                lambda: bool(self._inbox.waiting) or self._inbox.closed is not None,
                timeout=idle,
                timeout_summary="the next message, else the session ends",
            )
        self._listens = False

    @workflow.update(
        name=SEND_MESSAGE_UPDATE,
        description="Tell the model something before its next turn; a run that was about to end goes on. "
        'Takes {"text": "…"} and, optional, "sender".',
    )
    def send_message(self, message: SendMessage) -> None:
        """Take a message: the ledger tells of it at once, and the model is told before its next turn."""
        self._inbox = self._inbox.take(message)
        self._take_update(
            MessageReceived(
                time=workflow.now(), text=message.text, sender=message.sender, message_id=message.message_id
            )
        )

    @send_message.validator
    def _check_send_message(self, message: SendMessage) -> None:
        refuse_for(self._inbox.why_not(message))

    @workflow.update(
        name=END_SESSION_UPDATE,
        description="End a session that waits for the next message; it completes with its last answer. "
        "Takes {}.",
    )
    def end_session(self, _: EndSession = _POLITELY) -> None:
        """End the session that waits for its next message: nothing is cut short."""
        self._inbox = self._inbox.close("the session has been ended")

    @end_session.validator
    def _check_end_session(self, _: EndSession = _POLITELY) -> None:
        refuse_for(self._inbox.closed or self._why_not_ended())

    def _why_not_ended(self) -> str | None:
        if self._listens and not self._inbox.waiting:
            return None
        return "the run does not wait for a message: end a session once it has answered, or cancel the run"
