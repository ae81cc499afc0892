"""Replies that arrive in pieces, from servers that stream well, badly, and not at all."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from activities.draft import Draft
from activities.interface import LlmTurnResult, Written
from activities.model import ModelRefusedError, ModelUnavailableError
from activities.providers.opening import open_provider_model
from surefoot.conversation import AssistantMessage, ToolCall
from surefoot.usage import Usage
from tests.activities.openai_server import HELD, Answer, Call, ModelServer, Raw, Reply, Stream
from tests.activities.providers.asking import (
    ANTHROPIC,
    CHAT,
    IN_PIECES,
    PROMPT,
    RESPONSES,
    SYSTEM,
    Whole,
    ask,
    settings,
)
from tests.activities.providers.events import END, chat_events, data, response_events
from tests.activities.providers.wire import chat_completion, message, message_events, response

REPLY = Reply(text="Look: 😀", reasoning="Hm.", calls=(Call("bash", {"command": "ls"}),))


def events(model: str, reply: Reply = REPLY) -> list[bytes]:
    match model:
        case "openai-chat:test-model":
            return chat_events(chat_completion(reply, 1), reply.piece_characters, usage=True)
        case "openai:test-model":
            return response_events(response(reply, 1), reply.piece_characters)
        case _:
            return message_events(message(reply, 1), reply.piece_characters)


def asked_to_stream(server: ModelServer) -> list[bool]:
    return [bool(request.body.get("stream")) for request in server.requests]


async def told(server: ModelServer, model: str = CHAT, *, times: int = 1) -> list[LlmTurnResult]:
    """Ask one and the same open model, as a worker does."""
    opened = open_provider_model(model, protocol="native", settings=settings(server))
    try:
        return [await opened.reply((SYSTEM, PROMPT), closing=False) for _ in range(times)]
    finally:
        await opened.close()


texts = st.text(max_size=12) | st.sampled_from(["<think>a</think>\n\nb", "a<think>b", "</think>", "a\ud800"])
replies = st.builds(
    Reply,
    text=texts,
    reasoning=st.text(max_size=6),
    calls=st.lists(st.builds(Call, st.sampled_from(["bash", "x.y"]), st.just({"a": "é\n"})), max_size=2),
    cut_off=st.booleans(),
    cached_tokens=st.integers(0, 9),
    piece_characters=st.integers(1, 9),
)


@pytest.mark.slow
@pytest.mark.parametrize("model", IN_PIECES)
@examples(max_examples=40, deadline=None)
@given(reply=replies)
async def test_a_reply_in_pieces_amounts_to_the_same_as_a_whole_one(reply: Reply, model: str) -> None:
    # Only a stream of Anthropic's tells whether a call at the output limit is whole.
    assume(model != ANTHROPIC or not (reply.cut_off and reply.calls))
    with ModelServer(reply, reply) as server:
        in_pieces = await ask(server, model=model)
        whole = await ask(server, model=Whole(model))
    assert _without_ids(in_pieces) == _without_ids(whole)


def _without_ids(result: LlmTurnResult) -> dict[str, Any]:
    # The server names its calls and items by the number of the request.
    return json.loads(result.model_dump_json().replace("_2_", "_1_").replace('_2"', '_1"'))


@pytest.mark.parametrize("model", IN_PIECES)
async def test_what_is_written_can_be_looked_at_until_the_reply_is_whole(model: str) -> None:
    said = events(model, Reply(text="Let me look at it.", calls=(Call("bash", {"command": "ls"}),)))
    middle = next(at for at, event in enumerate(said) if b" lo" in event) + 1
    draft = Draft()

    with ModelServer(Stream([*said[:middle], HELD, *said[middle:]])) as server:
        opened = open_provider_model(model, protocol="native", settings=settings(server))
        asking = asyncio.create_task(opened.draft_reply((SYSTEM, PROMPT), closing=False, draft=draft))
        await _until(lambda: "lo" in draft.written().text)
        seen = draft.written()
        server.go_on()
        result = await asking
        await opened.close()

    assert seen == Written(text="Let me lo", doing="text", characters=9)
    assert draft.written().tool == "bash"
    assert (result.reply.text, [call.tool for call in result.reply.tool_calls]) == (
        "Let me look at it.",
        ["bash"],
    )


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110  told by a task of the model's
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("model", IN_PIECES)
async def test_a_connection_that_is_cut_in_mid_stream_is_tried_again_later(model: str) -> None:
    said = events(model)
    for count in range(1, len(said) - 1, 3):
        with ModelServer(Stream(said[:count], cut=True), REPLY) as server:
            with pytest.raises(ModelUnavailableError):
                await ask(server, model=model)
            assert asked_to_stream(server) == [True]


ENDINGS = {
    CHAT: b'"finish_reason": "tool_calls"',
    RESPONSES: b'"type": "response.completed"',
    ANTHROPIC: b'"type": "message_delta"',
}
"""What the event holds with which a reply is whole."""


@pytest.mark.parametrize("model", IN_PIECES)
async def test_the_beginning_of_a_reply_is_never_taken_for_the_whole(model: str) -> None:
    said = events(model)
    ending = next(at for at, event in enumerate(said) if ENDINGS[model] in event)
    for count in range(ending + 1):
        with ModelServer(Stream(said[:count]), REPLY) as server:
            result = await ask(server, model=model)
            assert (result.reply.text, len(result.reply.tool_calls)) == (REPLY.text, 1)
            assert (asked_to_stream(server), result.usage.requests) == ([True, False], 2)


@pytest.mark.parametrize("model", IN_PIECES)
async def test_a_client_that_is_cancelled_in_mid_stream_leaves_the_server(model: str) -> None:
    draft = Draft()
    with ModelServer(Stream([*events(model)[:8], HELD])) as server:
        opened = open_provider_model(model, protocol="native", settings=settings(server))
        asking = asyncio.create_task(opened.draft_reply((SYSTEM, PROMPT), closing=False, draft=draft))
        await _until(lambda: draft.written().characters > 0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        left = await asyncio.to_thread(server.left.wait, 10)
        await opened.close()
    assert left


def chat_error(kind: str, message: str) -> bytes:
    return data({"error": {"message": message, "type": kind, "code": kind}})


@pytest.mark.parametrize(
    ("model", "event"),
    [
        pytest.param(CHAT, chat_error("rate_limit_exceeded", "Busy"), id="a chat server's rate limit"),
        pytest.param(CHAT, chat_error("server_error", "Busy"), id="a chat server's own error"),
        pytest.param(
            RESPONSES,
            b"event: error\n"
            + data({"type": "error", "code": "server_error", "message": "Busy", "sequence_number": 9}),
            id="an error of the Responses interface",
        ),
        pytest.param(
            ANTHROPIC,
            b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n',
            id="Anthropic is overloaded",
        ),
        pytest.param(
            ANTHROPIC,
            b'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Busy"}}\n\n',
            id="Anthropic limits the rate",
        ),
    ],
)
@pytest.mark.parametrize("before", [0, 4])
async def test_an_error_in_mid_stream_that_time_may_heal_is_tried_again(
    model: str, event: bytes, before: int
) -> None:
    with ModelServer(Stream([*events(model)[:before], event]), REPLY) as server:
        with pytest.raises(ModelUnavailableError, match="Busy"):
            await ask(server, model=model)
        assert len(server.requests) == 1


async def test_an_error_in_mid_stream_that_time_cannot_heal_is_refused() -> None:
    event = chat_error("insufficient_quota", "Pay")
    refused = pytest.raises(ModelRefusedError, match="quota is used up")
    with ModelServer(Stream([*events(CHAT)[:4], event])) as server, refused:
        await ask(server)


@pytest.mark.parametrize("model", IN_PIECES)
@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"data: {not json\n\n", id="no JSON"),
        pytest.param(b"data: \xff\xfe\n\n", id="no UTF-8"),
        pytest.param(b"data: " + b"[" * 50_000 + b"\n\n", id="nested without end"),
    ],
)
async def test_garbage_in_mid_stream_is_an_unreadable_reply(garbage: bytes, model: str) -> None:
    head = {ANTHROPIC: b"event: content_block_delta\n"}.get(model, b"")
    with ModelServer(Stream([*events(model)[:3], head + garbage])) as server:
        reply = (await ask(server, model=model)).reply
    assert reply == AssistantMessage(unreadable=reply.unreadable or "")


REFUSAL = {
    "error": {"message": "Your organization must be verified to stream this model.", "param": "stream"}
}


@pytest.mark.parametrize("model", IN_PIECES)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Raw(400, REFUSAL), id="refused"),
        pytest.param(Stream([]), id="an empty stream"),
        pytest.param(Stream([b": ping\n\n"]), id="a stream of nothing but comments"),
        pytest.param(Raw(body={"answer": "as JSON"}), id="a body that is no stream"),
    ],
)
async def test_a_server_that_does_not_stream_is_asked_for_whole_replies_from_then_on(
    answer: Answer, model: str
) -> None:
    with ModelServer(answer, Reply(text="One."), Reply(text="Two.")) as server:
        results = await told(server, model, times=2)
        assert asked_to_stream(server) == [True, False, False]
    assert [(one.reply.text, one.usage.requests) for one in results] == [("One.", 2), ("Two.", 1)]


async def test_a_server_that_never_says_why_it_stops_is_asked_for_whole_replies() -> None:
    said = Reply(text="So.")
    body = chat_completion(said, 1)
    body["choices"][0]["finish_reason"] = None
    stream = chat_events(body, 3, usage=True)
    with ModelServer(Stream(stream), Raw(body=body), Raw(body=body)) as server:
        results = await told(server, times=2)
        assert asked_to_stream(server) == [True, False, False]
    assert [(one.reply.text, one.usage) for one in results] == [
        ("So.", Usage(requests=2, input_tokens=20, output_tokens=10)),
        ("So.", Usage(requests=1, input_tokens=10, output_tokens=5)),
    ]


async def test_one_stream_that_broke_off_does_not_end_all_streams() -> None:
    with ModelServer(Stream(events(CHAT)[:3]), REPLY, REPLY) as server:
        await told(server, times=2)
        assert asked_to_stream(server) == [True, False, True]


@pytest.mark.parametrize("model", [CHAT, RESPONSES])
async def test_a_server_that_tells_no_usage_in_streams_is_asked_for_whole_replies_next(model: str) -> None:
    said = Reply(text="So.")
    if model == CHAT:
        stream = chat_events(chat_completion(said, 1), 3, usage=False)
    else:
        stream = response_events({**response(said, 1), "usage": None}, 3)
    with ModelServer(Stream(stream), said) as server:
        results = await told(server, model, times=2)
        assert asked_to_stream(server) == [True, False]
    assert [(one.reply.text, one.usage.input_tokens) for one in results] == [("So.", 0), ("So.", 10)]


async def test_a_server_that_gives_all_its_calls_one_number_is_asked_for_whole_replies() -> None:
    two = Reply(calls=(Call("bash", {"command": "ls"}), Call("bash", {"command": "pwd"})))
    stream = [event.replace(b'"index": 1', b'"index": 0') for event in events(CHAT, two)]
    with ModelServer(Stream(stream), two) as server:
        (result,) = await told(server)
        assert asked_to_stream(server) == [True, False]
    assert [call.params for call in result.reply.tool_calls] == [{"command": "ls"}, {"command": "pwd"}]


async def test_a_refusal_of_something_else_is_not_taken_for_one_of_streams() -> None:
    with ModelServer(Raw(400, {"error": {"message": "upstream says no"}}), REPLY) as server:
        with pytest.raises(ModelRefusedError, match="upstream says no"):
            await ask(server)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(["<think>", "Hm.", "</think>\n\nYes."], id="the end of reasoning and text in one"),
        pytest.param(["<thi", "nk>Hm.</th", "ink>\n\nYes."], id="tags in pieces"),
        pytest.param(["<think>Hm.", "</think>", "\n\nYes."], id="the beginning and reasoning in one"),
    ],
)
async def test_reasoning_between_tags_is_found_however_it_comes(pieces: Sequence[str]) -> None:
    chunk = json.loads(events(CHAT)[0].removeprefix(b"data: "))
    stream = [data({**chunk, "choices": [{"index": 0, "delta": {"content": one}}]}) for one in pieces]
    stop = data({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    with ModelServer(Stream([*stream, stop, END])) as server:
        reply = (await ask(server)).reply
    assert (reply.text, reply.reasoning) == ("Yes.", "Hm.")


async def test_halves_of_a_pair_of_surrogates_meet_again() -> None:
    with ModelServer(Reply(text="a\ud83d\ude00b\ud800", piece_characters=1)) as server:
        reply = (await ask(server)).reply
    assert reply.text == "a😀b\ufffd"


async def test_a_model_that_only_streams_arguments_shows_which_tool_it_calls() -> None:
    stream = events(CHAT, Reply(calls=(Call("bash", {"command": "x" * 90}),)))
    draft = Draft()
    with ModelServer(Stream([*stream[:9], HELD, *stream[9:]])) as server:
        opened = open_provider_model(CHAT, protocol="native", settings=settings(server))
        asking = asyncio.create_task(opened.draft_reply((SYSTEM, PROMPT), closing=False, draft=draft))
        await _until(lambda: draft.written().characters > 9)
        seen = draft.written()
        server.go_on()
        result = await asking
        await opened.close()
    assert (seen.doing, seen.tool, seen.text) == ("call", "bash", "")
    assert result.reply.tool_calls == (ToolCall(id="call_1_1", tool="bash", params={"command": "x" * 90}),)
