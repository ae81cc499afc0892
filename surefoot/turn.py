"""What comes next in a run. The same conversation and the same spending always give the same answer."""

from dataclasses import dataclass

from pydantic import JsonValue

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
from surefoot.final_answer import Answer, Misfit, read_answer
from surefoot.json_schema import JsonSchema
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits
from surefoot.spent import Spent
from surefoot.told import closing_text, correction_text, misfit_text


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
class Listen:
    """Nobody has said anything yet: the first message of a session is to come."""


@dataclass(frozen=True)
class Finish:
    """The model has answered; `output` is the value of an answer that had to fit a schema."""

    answer: str
    output: JsonValue = None


@dataclass(frozen=True)
class LimitReached:
    """A limit ended the run; `answer` is what the model had, and `output` its value where it fits."""

    reason: str
    answer: str
    output: JsonValue = None


@dataclass(frozen=True)
class ModelUnreadable:
    """The model keeps giving replies that cannot be read, or answers that do not fit; the run fails."""

    reason: str


Step = CallModel | RunTools | Tell | RefuseTools | Listen | Finish | LimitReached | ModelUnreadable


def ends(step: Step) -> bool:
    """Tell whether a step ends the run, or answers calls that are not made: neither begins anything."""
    match step:
        case Listen() | Finish() | LimitReached() | ModelUnreadable() | RefuseTools():
            return True
        case CallModel() | RunTools() | Tell():
            return False


def next_step(
    conversation: Conversation, limits: Limits, spent: Spent, *, output_schema: JsonSchema | None = None
) -> Step:
    """Decide what comes next from what was said and spent; a final answer has to fit the schema, if any."""
    step = _next_step(conversation, limits, spent)
    return step if output_schema is None else _structured(step, conversation, output_schema)


def _next_step(conversation: Conversation, limits: Limits, spent: Spent) -> Step:
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
        case SystemMessage():
            return Listen()
        case UserMessage() | ToolMessage():
            return _before_turn(conversation, limits, spent)
        case None:
            # Only what the model has still to be given is let go of: see `Conversation.base`.
            return CallModel(closing=conversation.closing)


def _structured(step: Step, conversation: Conversation, schema: JsonSchema) -> Step:
    """Hold the answer of a step against the schema."""
    match step:
        case Finish(answer=answer):
            match read_answer(answer, schema):
                case Answer(output=output):
                    return Finish(answer, output)
                case Misfit(reason=reason):
                    why = f"answers that do not fit the output schema: {reason}"
                    return _correct(conversation, misfit_text(reason), why)
        case LimitReached(reason=reason, answer=answer):
            match read_answer(answer, schema):
                case Answer(output=output):
                    return LimitReached(reason, answer, output)
                case Misfit():
                    return step
        case Tell(message=UserMessage(purpose="closing"), limit=str(limit)):
            text = closing_text(limit, structured=True)
            return Tell(UserMessage(text=text, purpose="closing"), limit)
        case CallModel() | RunTools() | Tell() | RefuseTools() | Listen() | ModelUnreadable():
            return step


def _correct(conversation: Conversation, text: str, why: str) -> Step:
    if conversation.corrections_in_a_row + 1 >= MAX_UNREADABLE_REPLIES:
        return ModelUnreadable(f"the model keeps giving {why}")
    return Tell(UserMessage(text=text, purpose="correction"))


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
            why = f"replies that cannot be read: {reason}"
            return _correct(conversation, correction_text(reason), why)
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
