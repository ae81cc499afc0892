"""A reply that arrives in pieces: in the end the same as one that arrives whole, or not taken at all."""

import re
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass

from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import StreamedResponse

from activities.draft import Draft
from activities.providers.reply import usage
from surefoot.usage import Usage

_ABOUT_STREAMS = re.compile(r"\bstream", re.IGNORECASE)
_MAY_REFUSE_STREAMS = frozenset({400, 404, 405, 422, 501})


@dataclass
class NotStreamedError(Exception):
    """The server did not stream as it ought to; asked for the reply as a whole, it may well give it."""

    reason: str
    usage: Usage
    """What the stream cost that is not taken."""
    lasting: bool = True
    """Whether it is the server's way, and not what may have happened to this one stream."""

    def __str__(self) -> str:
        return self.reason


async def read_stream(stream: AbstractAsyncContextManager[StreamedResponse], draft: Draft) -> ModelResponse:
    """Read a reply to its end; `draft` takes its pieces as they come.

    Raises:
        NotStreamedError: nothing came, calls ran into one another, or nothing tells that the reply is whole.
        Exception: whatever pydantic-ai raises for a request that fails.
    """
    async with AsyncExitStack() as stack:
        streamed = await _opened(stack, stream)
        async for event in streamed:
            if _runs_into_another(event):
                raise NotStreamedError("it does not tell the calls of a reply apart", usage(streamed.get()))
            _take(event, draft)
        response = streamed.get()
    if not tells_its_end(response):
        reason = "nothing tells that the reply is at its end"
        raise NotStreamedError(reason, usage(response), lasting=False)
    return response


def tells_its_end(response: ModelResponse) -> bool:
    """Tell whether the provider said why it stopped; where it did not, it may have been cut off anywhere.

    What pydantic-ai calls the reason to stop is made up where there was none; the provider's own is not.
    """
    details = response.provider_details or {}
    return bool(details.get("finish_reason") or details.get("refusal"))


async def _opened(
    stack: AsyncExitStack, stream: AbstractAsyncContextManager[StreamedResponse]
) -> StreamedResponse:
    try:
        return await stack.enter_async_context(stream)
    except ModelHTTPError as error:
        # OpenAI refuses its newer models' streams to organizations that it does not know, for instance.
        if error.status_code in _MAY_REFUSE_STREAMS and _ABOUT_STREAMS.search(str(error.body)):
            raise NotStreamedError("it refuses to", Usage(requests=1)) from error
        raise
    except (UnexpectedModelBehavior, NotImplementedError) as error:
        raise NotStreamedError("nothing comes", Usage(requests=1)) from error


def _runs_into_another(event: ModelResponseStreamEvent) -> bool:
    """Tell whether a call's name is given once more: a server that gives all its calls one number does it.

    pydantic-ai takes them for one call, with their names and arguments in a row.
    """
    match event:
        case PartDeltaEvent(delta=ToolCallPartDelta(tool_name_delta=name)):
            return bool(name)
        case _:
            return False


def _take(event: ModelResponseStreamEvent, draft: Draft) -> None:
    match event:
        case (
            PartStartEvent(part=TextPart(content=text))
            | PartDeltaEvent(delta=TextPartDelta(content_delta=text))
        ):
            draft.write(text)
        case PartStartEvent(part=ThinkingPart(content=text)):
            draft.reason(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))):
            draft.reason(text)
        case PartStartEvent(part=ToolCallPart(tool_name=tool, args=arguments)):
            draft.call(tool)
            draft.argue(arguments if isinstance(arguments, str) else "")
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(arguments))):
            draft.argue(arguments)
        case _:
            pass
