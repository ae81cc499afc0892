"""What comes next in a run. The same conversation always gives the same answer."""

from dataclasses import dataclass

from surefoot.conversation import (
    AssistantMessage,
    Conversation,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits


@dataclass(frozen=True)
class CallModel:
    """Ask the model for its next reply; on a closing turn it must answer without tools."""

    closing: bool = False


@dataclass(frozen=True)
class RunTools:
    """Run the calls of the last reply side by side."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class Tell:
    """Say something to the model in the user's role."""

    message: UserMessage


@dataclass(frozen=True)
class RefuseTools:
    """Answer the calls that the model made in its closing turn, without making them."""

    calls: tuple[ToolCall, ...]
    limit: str


@dataclass(frozen=True)
class Finish:
    """The model has answered."""

    answer: str


@dataclass(frozen=True)
class LimitReached:
    """A limit ended the run; `answer` is what the model had."""

    reason: str
    answer: str


@dataclass(frozen=True)
class ModelUnreadable:
    """The model keeps giving replies that nobody can read; the run fails."""

    reason: str


Step = CallModel | RunTools | Tell | RefuseTools | Finish | LimitReached | ModelUnreadable


def next_step(conversation: Conversation, limits: Limits) -> Step:
    """Decide what comes next from what was said."""
    match conversation.last:
        case AssistantMessage() as reply:
            return (
                _after_closing(reply, conversation, limits)
                if conversation.closing
                else _after_reply(reply, conversation)
            )
        case UserMessage(purpose="closing"):
            return CallModel(closing=True)
        case ToolMessage() if conversation.closing:
            return _limit_reached(conversation, limits)
        case SystemMessage() | UserMessage() | ToolMessage():
            if conversation.turns >= limits.max_turns:
                return Tell(UserMessage(text=closing_text(limits), purpose="closing"))
            return CallModel()
        case None:
            # Only what the model has still to be given is let go of: see `Conversation.base`.
            return CallModel(closing=conversation.closing)


def closing_text(limits: Limits) -> str:
    """Tell the model, in the user's role, to answer with what it has."""
    return (
        f"The {turn_limit(limits)} is reached, and no more tools can be called. "
        "Answer now with what you have, and say plainly what is missing or uncertain."
    )


def correction_text(reason: str) -> str:
    """Tell the model, in the user's role, that its reply could not be read."""
    return f"Your last reply could not be read: {reason}. Reply again."


def turn_limit(limits: Limits) -> str:
    """Name the limit for people and for the model."""
    return f"limit of {limits.max_turns} turn{'' if limits.max_turns == 1 else 's'}"


def _after_reply(reply: AssistantMessage, conversation: Conversation) -> Step:
    match reply:
        case AssistantMessage(unreadable=str(reason)):
            if conversation.unreadable_in_a_row >= MAX_UNREADABLE_REPLIES:
                return ModelUnreadable(reason)
            return Tell(UserMessage(text=correction_text(reason), purpose="correction"))
        case AssistantMessage(tool_calls=()):
            return Finish(answer=reply.text)
        case AssistantMessage(tool_calls=calls):
            return RunTools(calls)


def _after_closing(reply: AssistantMessage, conversation: Conversation, limits: Limits) -> Step:
    if reply.tool_calls:
        return RefuseTools(reply.tool_calls, limit=f"the {turn_limit(limits)} is reached")
    return _limit_reached(conversation, limits)


def _limit_reached(conversation: Conversation, limits: Limits) -> LimitReached:
    # Not only the closing reply's text: it may be empty, or nothing but calls.
    return LimitReached(reason=turn_limit(limits), answer=conversation.last_text)
