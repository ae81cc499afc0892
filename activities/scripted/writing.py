"""A scripted reply that is written before everybody's eyes, as those of real models are."""

import asyncio
import re
from collections.abc import Iterator
from functools import partial

from activities.draft import Draft
from surefoot.conversation import AssistantMessage
from surefoot.strict_json import encode_json

_WORD = re.compile(r"\s*\S+\s*")


async def write(reply: AssistantMessage, draft: Draft, *, seconds: float) -> None:
    """Write a reply word by word, and take so long for it."""
    pieces = [
        *(partial(draft.reason, word) for word in _words(reply.reasoning)),
        *(partial(draft.write, word) for word in _words(reply.text)),
    ]
    for call in reply.tool_calls:
        pieces.append(partial(draft.call, call.tool))
        pieces += [partial(draft.argue, word) for word in _words(encode_json(call.params))]
    for take in pieces:
        take()
        await asyncio.sleep(seconds / len(pieces))


def _words(text: str) -> Iterator[str]:
    return (word[0] for word in _WORD.finditer(text))
