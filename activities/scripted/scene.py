"""Where a conversation stands in a script, and which reply is next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import Field, JsonValue, ValidationError

from activities.document import Place
from activities.model import ModelRefusedError
from activities.scripted.condition import OutcomeView, Pattern, first_match
from activities.scripted.script import Script
from activities.scripted.steps import ScriptedReply
from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from surefoot.strict_json import encode_json
from surefoot.wire import WireModel

_MAX_SHOWN_CHARACTERS = 160


class Position(WireModel):
    """The step that was given last, counted from 0, and how many times; it travels with the reply."""

    step: Annotated[int, Field(ge=0)] = 0
    given: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True)
class NextTurn:
    """The reply that is next, where it stands, and what its `when` was met by."""

    reply: ScriptedReply
    place: Place
    position: Position
    matched: OutcomeView | None


@dataclass(frozen=True)
class Scene:
    """All that a reply can depend on; nothing but the conversation decides it."""

    position: Position
    prompt: str
    message: str
    """The newest message that was sent to the run; empty if none was."""
    said: str
    """What the model said last."""
    outcomes: tuple[OutcomeView, ...]
    """What the calls of the last reply came to, in the order they were asked for."""
    named: Mapping[str, OutcomeView]
    """The newest outcome of every call, by the call's id."""
    turn: int

    @classmethod
    def of(cls, messages: Sequence[Message], *, provider: str) -> "Scene":
        """Read a conversation.

        Raises:
            ModelRefusedError: the position that came with the last reply cannot be read.
        """
        prompt = message_text = said = ""
        position, turn, outcomes, named = Position(), 1, list[OutcomeView](), dict[str, OutcomeView]()
        for message in messages:
            match message:
                case UserMessage(purpose="prompt", text=prompt):
                    pass
                case UserMessage(purpose="message", text=message_text):
                    pass
                case AssistantMessage():
                    turn, said, outcomes = turn + 1, message.text or said, []
                    if message.provider == provider:
                        position = _position(message.provider_state)
                case UserMessage(summarised_turns=turns):
                    turn += turns
                case ToolMessage():
                    outcomes.append(_view(message))
                    named[message.call_id] = outcomes[-1]
                case SystemMessage():
                    pass
        return cls(position, prompt, message_text, said, tuple(outcomes), named, turn)

    def scope(self, matched: OutcomeView | None = None) -> dict[str, JsonValue]:
        """Give what templates may name."""
        views = [dict(view) for view in self.outcomes]
        scope: dict[str, JsonValue] = {call_id: dict(view) for call_id, view in self.named.items()}
        scope |= {"prompt": self.prompt, "message": self.message, "outcomes": cast(JsonValue, views)}
        if views:
            scope["last"] = views[-1]
        if matched is not None:
            scope["matched"] = dict(matched)
        return scope

    def next_turn(self, script: Script) -> NextTurn:
        """Find the reply that is next.

        Raises:
            ModelRefusedError: no step is left, or none of the replies to choose from fits.
        """
        for number in range(self.position.step, len(script.steps)):
            step = script.steps[number]
            given = self.position.given if number == self.position.step else 0
            if given < step.repeat and self._meets(step.when):
                return self._choose(script, number, Position(step=number, given=given + 1))
        after = script.where("steps", self.position.step) if self.position.given else script.file
        raise ModelRefusedError(f"{after}: no step that fits is left after this; {self._came_to()}")

    def _choose(self, script: Script, number: int, position: Position) -> NextTurn:
        step = script.steps[number]
        for choice_number, choice in enumerate(step.choices):
            if self._meets(choice.when):
                place = ("steps", number, *(("choose", choice_number) if step.choose else ()))
                matched = first_match(choice.when or step.when, self.outcomes)
                return NextTurn(choice, place, position, matched)
        where = script.where("steps", number)
        raise ModelRefusedError(f"{where}: none of the replies to choose from fits; {self._came_to()}")

    def _meets(self, when: Sequence[Pattern]) -> bool:
        return not when or first_match(when, self.outcomes) is not None

    def _came_to(self) -> str:
        if not self.outcomes:
            return "there were no calls just before"
        return f"the last calls came to {'; '.join(_shown(view) for view in self.outcomes)}"


def _position(state: JsonValue) -> Position:
    try:
        return Position.model_validate(state)
    except ValidationError:
        raise ModelRefusedError(f"no position in a script: {encode_json(state)}") from None


def _view(message: ToolMessage) -> OutcomeView:
    return {"tool": message.tool} | message.outcome.model_dump(mode="json")


def _shown(view: OutcomeView) -> str:
    shown = view.get("error_code") or f"success, {encode_json(view.get('result'))}"
    text = f"{view['tool']}: {shown}"
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]}…"
