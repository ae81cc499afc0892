"""What happened in a run, to make assertions on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from surefoot.events import Event
from surefoot.ledger import reduce_events
from surefoot.outcome import ErrorCode, ToolFailure, ToolSuccess, envelope
from surefoot.strict_json import encode_json
from surefoot.testing.observed_model import ModelTurn

Outcome = ToolSuccess | ToolFailure


@dataclass(frozen=True, repr=False)
class Transcript:
    """Everything that was said and done in a run; as text, it is what a test prints when it fails."""

    turns: tuple[ModelTurn, ...]
    """Each turn of the model that led to a reply, those among them in which it summarised older ones."""
    events: tuple[Event, ...]
    """The run's ledger, as `surefoot watch -o jsonl` gives it."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole conversation, each message as the model was first given it, and the model's last reply.

        Where the run had to make room in the context window, `turns` tell what the model was given instead.
        """
        said: list[Message] = []
        given: tuple[Message, ...] = ()
        for turn in self._replies:
            said += _new(turn.given, given)
            given = turn.given
        return (*said, self._replies[-1].reply) if given else ()

    @property
    def said(self) -> list[str]:
        """The model's texts, one for each of its turns in the conversation."""
        return [turn.reply.text for turn in self._replies]

    @property
    def told(self) -> list[str]:
        """What the model was told, word for word: the users' texts, and the outcome of each call as JSON."""
        return [text for message in self.messages for text in _told(message)]

    @property
    def took(self) -> timedelta:
        """How long the run took by its own clock, skipped time included."""
        return self.events[-1].time - self.events[0].time

    def calls(self, tool: str | None = None) -> list[ToolCall]:
        """The calls that the model asked for, of one tool or of all, whether they were made or refused."""
        asked = [call for turn in self._replies for call in turn.reply.tool_calls]
        return [call for call in asked if tool in (None, call.tool)]

    def params(self, tool: str) -> list[JsonValue]:
        """The params of each call of a tool."""
        return [call.params for call in self.calls(tool)]

    def outcomes(self, tool: str | None = None) -> list[Outcome]:
        """What the calls came to, of one tool or of all, in the order in which the model asked for them."""
        executions = sorted(
            reduce_events(self.events).executions,
            key=lambda one: [int(n) for n in one.tool_exec_id.split("-")],
        )
        return [one.outcome for one in executions if one.outcome is not None and tool in (None, one.tool)]

    def error_codes(self, tool: str | None = None) -> list[ErrorCode | None]:
        """How the calls ended, in the order of `outcomes`; None for a valid answer."""
        outcomes = self.outcomes(tool)
        return [one.error_code if isinstance(one, ToolFailure) else None for one in outcomes]

    @property
    def _replies(self) -> list[ModelTurn]:
        return [turn for turn in self.turns if not turn.summarises]

    def __str__(self) -> str:
        finished = reduce_events(self.events).finished
        ending = (
            [] if finished is None else [f"[{': '.join(filter(None, [finished.status, finished.error]))}]"]
        )
        return "\n".join([*(line for message in self.messages for line in _lines(message)), *ending])

    def __repr__(self) -> str:
        return f"<Transcript\n{self}\n>"


def _new(given: tuple[Message, ...], before: tuple[Message, ...]) -> tuple[Message, ...]:
    """Give what a turn was given beyond the turn before: at least the last reply, and what came after it."""
    if given[: len(before)] == before:
        return given[len(before) :]
    replies = [n for n, message in enumerate(given) if isinstance(message, AssistantMessage)]
    return given[replies[-1] :] if replies else ()


def _told(message: Message) -> Iterator[str]:
    match message:
        case UserMessage(text=text):
            yield text
        case ToolMessage(outcome=outcome):
            yield envelope(outcome)
        case SystemMessage() | AssistantMessage():
            pass


def _lines(message: Message) -> Iterator[str]:
    match message:
        case SystemMessage():
            pass
        case UserMessage(text=text, purpose=purpose):
            yield f"{'user' if purpose in ('prompt', 'message') else 'surefoot'}: {text}"
        case AssistantMessage(text=text, tool_calls=calls, unreadable=unreadable):
            if text or not calls:
                yield f"model: {text if unreadable is None else f'(unreadable: {unreadable})'}"
            yield from (f"model calls {call.tool} {encode_json(call.params)}" for call in calls)
        case ToolMessage(tool=tool, outcome=outcome):
            yield from _outcome_lines(tool, outcome)


def _outcome_lines(tool: str, outcome: Outcome) -> Iterator[str]:
    match outcome:
        case ToolSuccess(result=result):
            yield f"{tool} answers {encode_json(result)}"
        case ToolFailure() as failure:
            yield f"{tool} fails with {failure.error_code}: {failure.error}"
            yield from _captured(failure)


def _captured(failure: ToolFailure) -> Sequence[str]:
    streams = [("stdout", failure.stdout), ("stderr", failure.stderr)]
    return [f"  {name}: {line}" for name, text in streams for line in text.splitlines()]
