"""What comes next in a run. The same conversation and the same spending always give the same answer."""

from dataclasses import dataclass

from surefoot.breaker import warning_text
from surefoot.budget import limit_reached, time_is_up, time_limit, tool_call_limit, turn_limit
from surefoot.conversation import (
    AssistantMessage,
    Conversation,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits
from surefoot.spent import Spent


@dataclass(frozen=True)
class CallModel:
    """Ask the model for its next reply; on a closing turn it must answer without tools."""

    closing: bool = False


@dataclass(frozen=True)
class RunTools:
    """Run the calls of the last reply side by side, and answer those above a limit without making them."""

    calls: tuple[ToolCall, ...]
    refused: tuple[ToolCall, ...] = ()
    limit: str = ""
    """Why the rest is refused."""


@dataclass(frozen=True)
class Tell:
    """Say something to the model in the user's role."""

    message: UserMessage
    limit: str | None = None
    """The limit that the message tells of."""


@dataclass(frozen=True)
class RefuseTools:
    """Answer the calls of a reply that came after a limit, without making them."""

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


def next_step(conversation: Conversation, limits: Limits, spent: Spent) -> Step:
    """Decide what comes next from what was said and spent."""
    match conversation.last:
        case AssistantMessage() as reply:
            return (
                _after_closing(reply, conversation, limits, spent)
                if conversation.closing
                else _after_reply(reply, conversation, limits, spent)
            )
        case UserMessage(purpose="closing"):
            return CallModel(closing=True)
        case ToolMessage() if conversation.closing:
            return _ended_by_limit(conversation, limits, spent)
        case SystemMessage() | UserMessage() | ToolMessage():
            return _before_turn(conversation, limits, spent)
        case None:
            # Only what the model has still to be given is let go of: see `Conversation.base`.
            return CallModel(closing=conversation.closing)


def closing_text(limit: str) -> str:
    """Tell the model, in the user's role, to answer with what it has."""
    return (
        f"The {limit} is reached, and no more tools can be called. "
        "Answer now with what you have, and say plainly what is missing or uncertain."
    )


def correction_text(reason: str) -> str:
    """Tell the model, in the user's role, that its reply could not be read."""
    return f"Your last reply could not be read: {reason}. Reply again."


def _before_turn(conversation: Conversation, limits: Limits, spent: Spent) -> Step:
    if (limit := limit_reached(limits, spent, turns=conversation.turns)) is not None:
        return Tell(UserMessage(text=closing_text(limit), purpose="closing"), limit)
    if failing := spent.streaks.to_warn_of(limits.failures_in_a_row):
        text = warning_text(failing, limits.failures_in_a_row)
        return Tell(UserMessage(text=text, purpose="warning"))
    return CallModel()


def _after_reply(reply: AssistantMessage, conversation: Conversation, limits: Limits, spent: Spent) -> Step:
    match reply:
        case AssistantMessage(unreadable=str(reason)):
            if conversation.unreadable_in_a_row >= MAX_UNREADABLE_REPLIES:
                return ModelUnreadable(reason)
            return Tell(UserMessage(text=correction_text(reason), purpose="correction"))
        case AssistantMessage(tool_calls=()):
            return Finish(answer=reply.text)
        case AssistantMessage(tool_calls=calls) if time_is_up(limits, spent):
            return RefuseTools(calls, limit=f"the {time_limit(limits)} is reached")
        case AssistantMessage(tool_calls=calls):
            return _within_tool_calls(calls, limits, spent)


def _within_tool_calls(calls: tuple[ToolCall, ...], limits: Limits, spent: Spent) -> Step:
    if limits.max_tool_calls is None:
        return RunTools(calls)
    left = max(limits.max_tool_calls - spent.tool_calls, 0)
    if len(calls) <= left:
        return RunTools(calls)
    return RunTools(calls[:left], calls[left:], limit=f"the {tool_call_limit(limits)} is reached")


def _after_closing(reply: AssistantMessage, conversation: Conversation, limits: Limits, spent: Spent) -> Step:
    if reply.tool_calls:
        return RefuseTools(reply.tool_calls, limit=f"the {_told(limits, spent)} is reached")
    return _ended_by_limit(conversation, limits, spent)


def _ended_by_limit(conversation: Conversation, limits: Limits, spent: Spent) -> LimitReached:
    # Not only the closing reply's text: it may be empty, or nothing but calls.
    return LimitReached(reason=_told(limits, spent), answer=conversation.last_text)


def _told(limits: Limits, spent: Spent) -> str:
    return spent.limit or turn_limit(limits)
