"""Reasoning that a model wrote between tags into its text: the same, however the text came in pieces.

pydantic-ai finds a tag in a stream only where a piece is the tag and nothing else. A server that sends
`</think>` with what follows it would have the whole answer taken for reasoning.
"""

from collections.abc import Iterator, Sequence

from pydantic_ai.messages import ModelResponsePart, TextPart, ThinkingPart

Tags = tuple[str, str]
_TAGGED = "content"


def tags_read(parts: Sequence[ModelResponsePart], tags: Tags, *, provider: str) -> list[ModelResponsePart]:
    """Give a streamed reply's parts as pydantic-ai gives those of a reply that came whole."""
    read: list[ModelResponsePart] = []
    written: str | None = None
    for part in parts:
        if isinstance(part, TextPart) or _is_tagged(part):
            written = (written or "") + _as_written(part, tags)
            continue
        read += _split(written or "", tags, provider)
        written = None
        read.append(part)
    return [*read, *_split(written or "", tags, provider)]


def _is_tagged(part: ModelResponsePart) -> bool:
    return isinstance(part, ThinkingPart) and part.id == _TAGGED


def _as_written(part: ModelResponsePart, tags: Tags) -> str:
    match part:
        case TextPart(content=text):
            return text
        case ThinkingPart(content=text):
            # Where a tag was found in it that ends it, what follows is text again.
            return f"{tags[0]}{text}" if tags[1] in text else f"{tags[0]}{text}{tags[1]}"
        case _:
            return ""


def _split(written: str, tags: Tags, provider: str) -> Iterator[TextPart | ThinkingPart]:
    text, opened, rest = written.partition(tags[0])
    if text:
        yield TextPart(content=text)
    if not opened:
        return
    reasoning, closed, after = rest.partition(tags[1])
    if not closed:
        yield TextPart(content=rest)
        return
    yield ThinkingPart(content=reasoning, id=_TAGGED, provider_name=provider)
    yield from _split(after, tags, provider)
