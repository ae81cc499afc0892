"""A model that is listened to: what it was given, and what it said."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from activities.interface import LlmTurnResult
from activities.model import Model
from surefoot.conversation import AssistantMessage, Message, UserMessage


@dataclass(frozen=True)
class ModelTurn:
    """One turn of the model: everything that it was given, and its reply."""

    turn: int
    given: tuple[Message, ...]
    closing: bool
    """Whether it had to answer without tools."""
    reply: AssistantMessage

    @property
    def summarises(self) -> bool:
        """Whether the run only had it sum up older turns, to make room in its context window."""
        match self.given[-1]:
            case UserMessage(purpose="summary", summarised_turns=0):
                return True
            case _:
                return False


@dataclass(frozen=True)
class ObservedModel:
    """Passes a model's turn on to it, and tells of it before the run goes on."""

    model: Model
    turn: int
    show: Callable[[Message], Message]
    """Gives a message as the model is to see it."""
    tell: Callable[[ModelTurn], Awaitable[None]]

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        """Give the model's reply.

        Raises:
            ModelUnavailableError, ModelRefusedError: the model does.
        """
        given = tuple(self.show(message) for message in messages)
        result = await self.model.reply(given, closing=closing)
        await self.tell(ModelTurn(self.turn, given, closing, result.reply))
        return result


_fits: type[Model] = ObservedModel
