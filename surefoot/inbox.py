"""Messages for a run that is at work: which it takes, and when they join its conversation."""

from dataclasses import dataclass, replace

from surefoot.conversation import UserMessage
from surefoot.run import SendMessage
from surefoot.sizes import (
    MAX_MESSAGE_BYTES,
    MAX_SENDER_CHARACTERS,
    MAX_WAITING_BYTES,
    MAX_WAITING_MESSAGES,
    count,
)
from surefoot.strict_json import is_unicode, json_bytes
from surefoot.turn import (
    CallModel,
    Finish,
    LimitReached,
    Listen,
    ModelUnreadable,
    RefuseTools,
    RunTools,
    Step,
    Tell,
)

CONTINUES_AS_NEW = "the run continues as new at this moment; send it again"
"""Why a message is not taken that is to be sent again."""

_CLOSING = "the run is closing: its model was told to answer with what it has"
_ENDED = "the run has ended"


@dataclass(frozen=True)
class Inbox:
    """The messages that wait for the model's next turn, the oldest first."""

    waiting: tuple[SendMessage, ...] = ()
    closed: str | None = None
    """Why no more are taken; None while they are."""
    unanswered: tuple[str, ...] = ()
    """The ids of the messages that the model was told since its last answer."""

    def why_not(self, message: SendMessage) -> str | None:
        """Say in a sentence why a message is not taken; None if it is."""
        if self.closed is not None:
            return self.closed
        return _flaw_of(message) or self._why_full(message)

    def take(self, message: SendMessage) -> "Inbox":
        """Give the inbox with one more message."""
        return replace(self, waiting=(*self.waiting, message))

    def answered(self) -> "Inbox":
        """Give the inbox of which the model has answered all that it was told."""
        return replace(self, unanswered=())

    def close(self, reason: str = _ENDED) -> "Inbox":
        """Give the inbox that takes no more, and goes on saying why it was closed at first."""
        return replace(self, closed=self.closed or reason)

    def before(self, step: Step) -> "tuple[Inbox, tuple[UserMessage, ...]]":
        """Give what joins the conversation before a step is taken, and the inbox after it.

        Once nothing waits, a step that ends the run, or begins to, closes the inbox: what was taken is always
        told to the model, and what comes after that is refused.
        """
        match step:
            case CallModel(closing=True) | RunTools() | RefuseTools():
                return self, ()
            case Tell(message=message) if message.purpose != "closing":
                return self, ()
            case _ if self.waiting:
                told = tuple(UserMessage(text=one.text, purpose="message") for one in self.waiting)
                if isinstance(step, Listen):
                    told = (UserMessage(text=told[0].text), *told[1:])
                ids = tuple(one.message_id for one in self.waiting if one.message_id is not None)
                return replace(self, waiting=(), unanswered=(*self.unanswered, *ids)), told
            case CallModel():
                return self, ()
            case Tell():
                return self.close(_CLOSING), ()
            case Listen() | Finish() | LimitReached() | ModelUnreadable():
                return self.close(), ()

    def _why_full(self, message: SendMessage) -> str | None:
        if len(self.waiting) >= MAX_WAITING_MESSAGES:
            return f"{MAX_WAITING_MESSAGES} messages wait for the model's next turn already"
        if sum(json_bytes(one.text) for one in (*self.waiting, message)) > MAX_WAITING_BYTES:
            return f"the messages that wait would be above the limit of {count(MAX_WAITING_BYTES)}"
        return None


def _flaw_of(message: SendMessage) -> str | None:
    if not message.text.strip():
        return "the message is empty"
    names = (message.sender or "", message.message_id or "")
    if not all(is_unicode(text) for text in (message.text, *names)):
        return "the message holds bytes that are no UTF-8"
    if (size := json_bytes(message.text)) > MAX_MESSAGE_BYTES:
        return f"the message is {size:,} bytes as JSON, above the limit of {count(MAX_MESSAGE_BYTES)}"
    if len(message.sender or "") > MAX_SENDER_CHARACTERS:
        return f"the sender's name is longer than {MAX_SENDER_CHARACTERS} characters"
    if len(message.message_id or "") > MAX_SENDER_CHARACTERS:
        return f"the message's id is longer than {MAX_SENDER_CHARACTERS} characters"
    return None
