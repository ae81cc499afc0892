"""What a provider answered, as a message of ours: scrubbed, and with an id of its own for every call."""

import json
from collections.abc import Sequence

from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ThinkingPart, ToolCallPart

from activities.providers.state import KeptPart, keep, kept_details
from surefoot.conversation import AssistantMessage, ToolCall
from surefoot.model_text import read_arguments, scrub
from surefoot.prompted_reply import EMPTY, MAX_TOOL_NAME_CHARACTERS, read_reply
from surefoot.usage import Usage

_MAX_ID_CHARACTERS = 200
# pydantic-ai makes such an id up, at random, where the provider gave none.
_MADE_UP_ID = "pyd_ai_"

_CUT_OFF = "it was cut off at the model's output limit"
_NOTHING_SAID = {
    "length": f"{_CUT_OFF} before it said anything",
    "content_filter": "the provider's content filter withheld it",
    "error": "the provider broke off while writing it",
}


def native_reply(response: ModelResponse, *, provider: str, turn: int) -> AssistantMessage:
    """Read a response of a model that was offered tools; `turn` makes the ids that it left out."""
    reading = _Reading(turn)
    for part in response.parts:
        reading.take(part)
    text = reading.text if reading.text.strip() else _refusal(response)
    if reason := _why_unreadable(response, said=bool(text), calls=reading.calls):
        return AssistantMessage(text=text, reasoning=reading.reasoning, unreadable=reason)
    state = keep(reading.kept) if text == reading.text else None
    return AssistantMessage(
        text=text if state is not None else text.strip(),
        reasoning=reading.reasoning,
        tool_calls=tuple(reading.calls),
        provider=provider if state is not None else None,
        provider_state=state,
    )


def prompted_reply(response: ModelResponse, *, provider: str, turn: int) -> AssistantMessage:
    """Read a response of a model that was asked to write its calls as text."""
    native = native_reply(response, provider=provider, turn=turn)
    if native.tool_calls or (native.unreadable and not native.text):
        return native.model_copy(update={"provider": None, "provider_state": None})
    reply = read_reply(native.text)
    if reply.unreadable and response.finish_reason == "length":
        return reply.model_copy(update={"unreadable": f"{_CUT_OFF}: {reply.unreadable}"})
    return reply


def broke_off(response: ModelResponse) -> bool:
    """Tell whether this is the beginning of a reply whose stream ended too early.

    pydantic-ai streams Anthropic's longer replies and takes such a beginning for the whole, be it half an
    answer or a call without its arguments; only the missing reason to stop gives it away.
    """
    stopped = response.finish_reason or (response.provider_details or {}).get("finish_reason")
    return response.provider_name == "anthropic" and not stopped


def filled_window(response: ModelResponse) -> bool:
    """Tell whether the reply ends where the model's context window does, and not at its output limit."""
    return (response.provider_details or {}).get("finish_reason") == "model_context_window_exceeded"


def usage(response: ModelResponse) -> Usage:
    """Count what one request cost, as far as the provider told."""
    told = response.usage
    return Usage(
        requests=1,
        input_tokens=_tokens(told.input_tokens),
        output_tokens=_tokens(told.output_tokens),
        cache_read_tokens=_tokens(told.cache_read_tokens),
        cache_write_tokens=_tokens(told.cache_write_tokens),
    )


class _Reading:
    """A response as it is read, part by part."""

    def __init__(self, turn: int) -> None:
        self.text = ""
        self.reasoning = ""
        self.calls: list[ToolCall] = []
        self.kept: list[KeptPart] = []
        self._turn = turn

    def take(self, part: ModelResponsePart) -> None:
        match part:
            case TextPart():
                self._take_text(part)
            case ThinkingPart():
                self._take_reasoning(part)
            case ToolCallPart():
                self._take_call(part)
            case _:
                pass

    def _take_text(self, part: TextPart) -> None:
        if not part.content:
            return
        adjacent = bool(self.kept) and self.kept[-1].kind == "text"
        self.text += "\n\n" if self.text and not adjacent else ""
        start = len(self.text)
        self.text += scrub(part.content)
        length, details = len(self.text) - start, kept_details(part.provider_details)
        self.kept.append(KeptPart(kind="text", start=start, length=length, id=part.id, details=details))

    def _take_reasoning(self, part: ThinkingPart) -> None:
        self.reasoning += "\n\n" if self.reasoning and part.content else ""
        start = len(self.reasoning)
        self.reasoning += scrub(part.content)
        self.kept.append(
            KeptPart(
                kind="reasoning",
                start=start,
                length=len(self.reasoning) - start,
                id=part.id,
                signature=part.signature,
                details=kept_details(part.provider_details),
            )
        )

    def _take_call(self, part: ToolCallPart) -> None:
        call_id = self._unique_id(part.tool_call_id)
        tool = scrub(part.tool_name)[:MAX_TOOL_NAME_CHARACTERS]
        self.calls.append(ToolCall(id=call_id, tool=tool, params=read_arguments(_as_text(part.args))))
        # The provider looks its own call up by this id, and would find another call id there.
        item_id = part.id if call_id == part.tool_call_id else None
        self.kept.append(KeptPart(kind="call", id=item_id, details=kept_details(part.provider_details)))

    def _unique_id(self, given: str) -> str:
        taken = {call.id for call in self.calls}
        wanted = scrub(given)
        usable = 0 < len(wanted) <= _MAX_ID_CHARACTERS and not wanted.startswith(_MADE_UP_ID)
        if usable and wanted not in taken:
            return wanted
        number = len(taken) + 1
        while (made := f"call-{self._turn}-{number}") in taken:
            number += 1
        return made


def _as_text(arguments: str | dict[str, object] | None) -> str:
    if isinstance(arguments, dict):
        try:
            return json.dumps(arguments)
        except (TypeError, ValueError, RecursionError):
            return "arguments that cannot be written as JSON"
    return arguments or ""


def _refusal(response: ModelResponse) -> str:
    said = (response.provider_details or {}).get("refusal")
    return scrub(said).strip() if isinstance(said, str) else ""


def _why_unreadable(response: ModelResponse, *, said: bool, calls: Sequence[ToolCall]) -> str | None:
    if not said and not calls:
        return _NOTHING_SAID.get(response.finish_reason or "", EMPTY)
    if response.finish_reason == "length" and calls and _ends_within_a_call(response, calls):
        return f"{_CUT_OFF} within a tool call; make the call shorter"
    return None


def _ends_within_a_call(response: ModelResponse, calls: Sequence[ToolCall]) -> bool:
    last = response.parts[-1]
    # Arguments that arrive parsed do not tell whether something is missing from them.
    unknown = isinstance(last, ToolCallPart) and not isinstance(last.args, str)
    return unknown or any(not isinstance(call.params, dict) for call in calls)


def _tokens(told: object) -> int:
    return told if isinstance(told, int) and told > 0 else 0
