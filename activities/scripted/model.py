"""A model that speaks from a script, and reacts to what its calls came to."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePath

from pydantic import JsonValue

from activities.draft import Draft
from activities.interface import LlmTurnResult
from activities.model import (
    DraftingModel,
    ModelContextOverflowError,
    ModelRefusedError,
    ModelUnavailableError,
)
from activities.scripted.scene import Position, Scene
from activities.scripted.script import Script
from activities.scripted.steps import ScriptedFailure, ScriptedReply
from activities.scripted.template import NotThereError, render, render_text
from activities.scripted.writing import write
from surefoot.conversation import AssistantMessage, Message, ToolCall, UserMessage, message_bytes
from surefoot.usage import Usage

PROVIDER = "scripted"
NOTHING_TO_SAY = "I have no more to say."


@dataclass(frozen=True)
class ScriptedModel:
    """Gives the replies of a script; it keeps nothing, so any worker can go on where another stopped.

    `attempt` is the attempt at the turn, counted from 1: a scripted failure may heal with it.
    """

    script: Script
    attempt: int = 1

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        """Give a reply that nobody looks at before it is whole; else as `draft_reply`."""
        return await self.draft_reply(messages, closing=closing, draft=Draft())

    async def draft_reply(self, messages: Sequence[Message], *, closing: bool, draft: Draft) -> LlmTurnResult:
        """Give the reply of the first step from here on that fits the outcomes of the last calls.

        Raises:
            ModelUnavailableError: the step says so.
            ModelContextOverflowError: the conversation is above the size that the script says.
            ModelRefusedError: the step says so, no step fits, or a template names what is not there.
        """
        self._check_size(messages)
        scene = Scene.of(messages, provider=PROVIDER)
        if messages and _is_summary_request(messages[-1]):
            return self._result(AssistantMessage(text=self._summary()), scene.position, Usage(requests=1))
        if closing:
            answer = AssistantMessage(text=self._last_words(scene))
            return self._result(answer, scene.position, Usage(requests=1))
        next_turn = scene.next_turn(self.script)
        reply, where = next_turn.reply, self.script.where(*next_turn.place)
        await asyncio.sleep(reply.delay_seconds)
        if reply.fail is not None:
            _fail(reply.fail, self.attempt)
        try:
            message = _rendered(reply, scene.scope(next_turn.matched), turn=scene.turn)
        except NotThereError as error:
            raise ModelRefusedError(f"{where}: the template {error}") from None
        if reply.write_seconds:
            await write(message, draft, seconds=reply.write_seconds)
        return self._result(message, next_turn.position, Usage(requests=1, **reply.usage.model_dump()))

    def _check_size(self, messages: Sequence[Message]) -> None:
        overflow = self.script.overflow
        size_bytes = sum(message_bytes(message) for message in messages) if overflow else 0
        if overflow is not None and size_bytes > overflow.above_bytes:
            reason = f"{size_bytes:,} bytes are above the {overflow.above_bytes:,} bytes that fit the script"
            raise ModelContextOverflowError(reason, overflow.window_tokens)

    def _summary(self) -> str:
        return self.script.summary.say if self.script.summary else NOTHING_TO_SAY

    def _last_words(self, scene: Scene) -> str:
        if self.script.closing is None:
            return scene.said or NOTHING_TO_SAY
        try:
            return render_text(self.script.closing.say, scene.scope())
        except NotThereError as error:
            where = self.script.where("closing", "say")
            raise ModelRefusedError(f"{where}: the template {error}") from None

    def _result(self, message: AssistantMessage, position: Position, usage: Usage) -> LlmTurnResult:
        state = {"provider": PROVIDER, "provider_state": position.model_dump()}
        cost = None if self.script.price is None else self.script.price.cost(usage)
        return LlmTurnResult(
            reply=message.model_copy(update=state),
            usage=usage.model_copy(update={"cost": cost}),
            model_name=f"{PROVIDER}:{PurePath(self.script.file).name}",
            context_window=self.script.context_window,
        )


_fits: type[DraftingModel] = ScriptedModel


def _is_summary_request(message: Message) -> bool:
    # A summary itself tells how many turns it stands for.
    match message:
        case UserMessage(purpose="summary", summarised_turns=0):
            return True
        case _:
            return False


def _fail(failure: ScriptedFailure, attempt: int) -> None:
    if failure.times is not None and attempt > failure.times:
        return
    if failure.refused is not None:
        raise ModelRefusedError(failure.refused)
    seconds = failure.retry_after_seconds
    retry_after = None if seconds is None else timedelta(seconds=seconds)
    raise ModelUnavailableError(failure.unavailable or "", retry_after)


def _rendered(reply: ScriptedReply, scope: Mapping[str, JsonValue], *, turn: int) -> AssistantMessage:
    return AssistantMessage(
        text=render_text(reply.say or "", scope),
        reasoning=render_text(reply.reasoning, scope),
        tool_calls=tuple(
            # No name begins with a digit, so the two kinds of ids never meet.
            ToolCall(id=call.name or f"{turn}-{number}", tool=call.tool, params=render(call.params, scope))
            for number, call in enumerate(reply.call, start=1)
        ),
        unreadable=reply.unreadable,
    )
