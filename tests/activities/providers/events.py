"""Replies as the OpenAI protocols stream them, from the bodies that they have as a whole."""

import json
from collections.abc import Iterator
from typing import Any

END = b"data: [DONE]\n\n"


def data(event: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def named(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + data(event)


def pieces_of(text: str | None, characters: int) -> list[str]:
    text = text or ""
    return [text[at : at + characters] for at in range(0, len(text), characters)]


def chat_events(completion: dict[str, Any], characters: int, *, usage: bool) -> list[bytes]:
    """The events of a chat completion, a piece of so many characters in each."""
    choice, head = completion["choices"][0], {**completion, "object": "chat.completion.chunk"}
    del head["usage"]
    deltas = list(_chat_deltas(choice["message"], characters))
    chunks: list[Any] = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    chunks.append([{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}])
    events = [data({**head, "choices": choices}) for choices in chunks]
    if usage:
        events.append(data({**head, "choices": [], "usage": completion["usage"]}))
    return [*events, END]


def _chat_deltas(message: dict[str, Any], characters: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for name in ("reasoning_content", "content", "refusal"):
        yield from ({name: piece} for piece in pieces_of(message.get(name), characters))
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        begun = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [begun]}
        for piece in pieces_of(function["arguments"], characters):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def response_events(response: dict[str, Any], characters: int) -> list[bytes]:
    """The events of a response of the Responses interface, a piece of so many characters in each."""
    begun: dict[str, Any] = {
        **response,
        "status": "in_progress",
        "output": [],
        "usage": None,
        "incomplete_details": None,
    }
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(response["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        empty = {**item, "status": "in_progress"}
        empty |= {name: value for name, value in _EMPTY.items() if name in item}
        events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        events += [{**place, **event} for event in _item_events(item, characters)]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    kind = "response.incomplete" if response["incomplete_details"] else "response.completed"
    events.append({"type": kind, "response": response})
    return [named({**event, "sequence_number": number}) for number, event in enumerate(events)]


_EMPTY: dict[str, Any] = {"content": [], "summary": [], "arguments": "", "encrypted_content": None}


def _item_events(item: dict[str, Any], characters: int) -> Iterator[dict[str, Any]]:
    match item:
        case {"type": "reasoning", "summary": [{"text": text}]}:
            part = {"type": "summary_text", "text": ""}
            yield {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part}
            for piece in pieces_of(text, characters):
                yield {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece}
        case {"type": "message", "content": [{"text": text}]}:
            part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", "content_index": 0, "part": part}
            for piece in pieces_of(text, characters):
                delta: dict[str, Any] = {"content_index": 0, "delta": piece, "logprobs": []}
                yield {"type": "response.output_text.delta", **delta}
            done: dict[str, Any] = {"content_index": 0, "text": text, "logprobs": []}
            yield {"type": "response.output_text.done", **done}
        case {"type": "function_call", "arguments": arguments, "name": name}:
            for piece in pieces_of(arguments, characters):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": arguments, "name": name}
        case _:
            pass
