"""What a conversation has heard of its session so far."""

import asyncio
from collections.abc import Callable

from console.progress import Progress, advance
from surefoot.events import (
    Answered,
    Event,
    MessageReceived,
    RunFinished,
)


class Heard:
    """Takes events, and lets others wait for what they amount to."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.received: dict[str, str] = {}
        """The texts of messages by their ids."""
        self.answered: set[str] = set()
        """The ids of the messages that were answered."""
        self.last_message: MessageReceived | None = None
        self.last_answer: Answered | None = None
        self._changed = asyncio.Event()

    @property
    def finished(self) -> RunFinished | None:
        """How the session ended."""
        return self.progress.finished

    @property
    def works(self) -> bool:
        """Whether the session has something to answer."""
        begun = self.progress.turn > 0 or self.last_message is not None
        return begun and not self.progress.listens and self.finished is None

    def hear(self, event: Event) -> None:
        """Take note of an event."""
        self.progress = advance(self.progress, event)
        match event:
            case MessageReceived(message_id=str(message_id), text=text):
                self.received[message_id] = text
                self.last_message = event
            case MessageReceived():
                self.last_message = event
            case Answered(answers=answers):
                self.answered |= set(answers)
                self.last_answer = event
            case _:
                pass
        self._changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        while not holds():
            self._changed.clear()
            await self._changed.wait()
