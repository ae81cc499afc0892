"""Replies as the OpenAI and Anthropic protocols write them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.activities.providers.events import named, pieces_of


@dataclass(frozen=True)
class Call:
    """A tool call; arguments that are text go out as they are, JSON or not."""

    tool: str
    arguments: dict[str, Any] | str = field(default_factory=dict[str, Any])
    id: str | None = None
    """What the server calls it; None: `call_<number of the request>_<number of the call>`."""


@dataclass(frozen=True)
class Reply:
    """A reply in whatever protocol it is asked for."""

    text: str = ""
    calls: Sequence[Call] = ()
    reasoning: str = ""
    """OpenAI: `reasoning_content`; Anthropic: a thinking block, signed `signature`."""
    signature: str = "signed"
    cut_off: bool = False
    """Whether it ends at the output limit."""
    input_tokens: int = 10
    """As each protocol counts them: OpenAI with the cached ones, Anthropic without."""
    output_tokens: int = 5
    cached_tokens: int = 0
    model: str = "test-model"
    piece_characters: int = 3
    """How much of it each event of a stream holds."""


def chat_completion(reply: Reply, number: int) -> dict[str, Any]:
    """Write a reply to request `number` as the body of a chat completion."""
    calls = _with_ids(reply, number)
    said: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        said["reasoning_content"] = reply.reasoning
    if calls:
        said["tool_calls"] = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": call.tool, "arguments": _text(call.arguments)},
            }
            for call_id, call in calls
        ]
    finish = "length" if reply.cut_off else "tool_calls" if calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": reply.model,
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        },
    }


def response(reply: Reply, number: int) -> dict[str, Any]:
    """Write a reply to request `number` as a body of the Responses interface."""
    output: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        item = {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
        output.append({**item, "encrypted_content": reply.signature})
    if reply.text:
        content: list[Any] = [{"type": "output_text", "text": reply.text, "annotations": []}]
        said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output.append({**said, "content": content})
    for n, (call_id, call) in enumerate(_with_ids(reply, number), start=1):
        item = {"type": "function_call", "id": f"fc_{number}_{n}", "call_id": call_id, "name": call.tool}
        output.append({**item, "arguments": _text(call.arguments), "status": "completed"})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": reply.model,
        "status": "incomplete" if reply.cut_off else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if reply.cut_off else None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
            "input_tokens_details": {"cached_tokens": reply.cached_tokens},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def message(reply: Reply, number: int) -> dict[str, Any]:
    """Write a reply to request `number` as an Anthropic message."""
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": reply.signature})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "tool_use", "id": call_id, "name": call.tool, "input": call.arguments}
        for call_id, call in _with_ids(reply, number)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": "max_tokens" if reply.cut_off else "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "cache_read_input_tokens": reply.cached_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def message_events(message: dict[str, Any], characters: int = 1_000_000) -> list[bytes]:
    """Write an Anthropic message as its events, a piece of so many characters in each."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, block in enumerate(message["content"]):
        empty, deltas = _deltas(block, characters)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    events += [{"type": "message_delta", "delta": ending, "usage": usage}, {"type": "message_stop"}]
    return [named(event) for event in events]


def _deltas(block: dict[str, Any], characters: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            pieces = pieces_of(block["text"], characters)
            return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]
        case "thinking":
            pieces = pieces_of(block["thinking"], characters)
            thinking = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*thinking, signature]
        case "redacted_thinking":
            return block, []
        case _:
            pieces = pieces_of(_text(block["input"]), characters)
            arguments = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return {**block, "input": {}}, arguments


def _text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _with_ids(reply: Reply, number: int) -> list[tuple[str, Call]]:
    return [
        (f"call_{number}_{n}" if call.id is None else call.id, call)
        for n, call in enumerate(reply.calls, start=1)
    ]
