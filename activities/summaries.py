"""Has a model write the summary of older turns, in as many portions as fit its window."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from activities.model import Model, ModelContextOverflowError, ModelKeyMissingError, ModelRefusedError
from surefoot.conversation import Message, UserMessage
from surefoot.shortening import cut_middle
from surefoot.summarising import summary_bytes
from surefoot.summary_request import bare_summary, earlier_summary, summary_request, transcripts
from surefoot.usage import NO_USAGE, Usage

_log = logging.getLogger(__name__)

_HALVINGS = 5
_LEFT_OUT = "[a part of the summary is left out]"


@dataclass(frozen=True)
class Summary:
    """What is to stand for older turns, and what it cost to have it written."""

    text: str
    usage: Usage


@dataclass
class Summarizer:
    """Writes one summary; `usage` is what it has cost so far."""

    model: Model
    prompt: str
    room_bytes: int
    """What a request may hold of the older turns: half of the window."""
    usage: Usage = NO_USAGE

    async def summary(self, older: Sequence[Message]) -> Summary:
        """Give the summary; one without a model's help where the model gives none.

        Raises:
            ModelUnavailableError: asking again later may help.
            ModelKeyMissingError: another worker may have the key.
        """
        portion_bytes = self.room_bytes
        for _ in range(_HALVINGS):
            try:
                text = await self._written(older, portion_bytes)
            except ModelContextOverflowError:
                portion_bytes //= 2
            except ModelKeyMissingError:
                raise
            except ModelRefusedError as error:
                _log.warning("the model refused to summarise older turns: %s", error)
                break
            else:
                return Summary(text or self._bare(older), self.usage)
        return Summary(self._bare(older), self.usage)

    def _bare(self, older: Sequence[Message]) -> str:
        # It begins with the summary before it, which may have been bare, too.
        return cut_middle(bare_summary(older), 2 * summary_bytes(self.room_bytes), _LEFT_OUT)

    async def _written(self, older: Sequence[Message], portion_bytes: int) -> str:
        limit_bytes = summary_bytes(self.room_bytes)
        text = earlier_summary(older)
        portions = transcripts(older, limit_bytes=portion_bytes)
        for number, transcript in enumerate(portions, start=1):
            request = summary_request(
                prompt=self.prompt,
                earlier=text,
                transcript=transcript,
                limit_bytes=limit_bytes,
                part=(number, len(portions)),
            )
            result = await self.model.reply(request, closing=False)
            self.usage += result.usage
            if result.reply.unreadable is not None or not result.reply.text.strip():
                return ""
            # A model that writes more than it was asked for is not to fill the window again.
            text = cut_middle(result.reply.text.strip(), 2 * limit_bytes, _LEFT_OUT)
        return text


def first_prompt(messages: Sequence[Message]) -> str:
    """Give what the user asked at the beginning."""
    prompts = (m.text for m in messages if isinstance(m, UserMessage) and m.purpose == "prompt")
    return next(prompts, "")
