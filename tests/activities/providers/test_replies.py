import json

import pytest

from activities.interface import LlmTurnResult
from activities.model import ModelUnavailableError
from surefoot.conversation import AssistantMessage, ToolCall
from surefoot.usage import Usage
from tests.activities.openai_server import Call, ModelServer, Raw, Reply, Stream
from tests.activities.providers.asking import (
    ANTHROPIC,
    CHAT,
    EVERY_PROTOCOL,
    RESPONSES,
    STREAMED,
    Whole,
    ask,
)
from tests.activities.providers.events import chat_events
from tests.activities.providers.wire import chat_completion, message, message_events


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_a_reply_says_what_was_said_what_it_cost_and_who_answered(model: str) -> None:
    reply = Reply(text="Look:", calls=(Call("bash", {"command": "ls"}),), input_tokens=7, output_tokens=3)
    with ModelServer(reply) as server:
        result = await ask(server, model=model)
    bare = result.reply.model_copy(update={"provider": None, "provider_state": None})
    assert result.model_copy(update={"reply": bare}) == LlmTurnResult(
        reply=AssistantMessage(
            text="Look:", tool_calls=(ToolCall(id="call_1_1", tool="bash", params={"command": "ls"}),)
        ),
        usage=Usage(requests=1, input_tokens=7, output_tokens=3),
        model_name="test-model",
    )


@pytest.mark.parametrize(
    ("model", "input_tokens"),
    [
        pytest.param(CHAT, 10, id="chat counts the cached tokens in"),
        pytest.param(RESPONSES, 10, id="responses count the cached tokens in"),
        pytest.param(ANTHROPIC, 14, id="anthropic counts them apart"),
        pytest.param(STREAMED, 14, id="so does its stream"),
    ],
)
async def test_cached_tokens_are_part_of_the_input(model: str, input_tokens: int) -> None:
    with ModelServer(Reply(text="Hi.", input_tokens=10, cached_tokens=4)) as server:
        usage = (await ask(server, model=model)).usage
    assert usage == Usage(requests=1, input_tokens=input_tokens, output_tokens=5, cache_read_tokens=4)


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        pytest.param("", {}, id="no text at all"),
        pytest.param('{"a": "\\ud800"}', {"a": "\ufffd"}, id="half a surrogate pair"),
        pytest.param('{"a": "\\ud83d\\ude00"}', {"a": "😀"}, id="a whole pair"),
        pytest.param('{"\\udfff": 1}', {"\ufffd": 1}, id="half a pair in a key"),
        pytest.param('{"a": ', '{"a": ', id="half an object"),
        pytest.param("[1]", "[1]", id="an array"),
        pytest.param('{"a": 1e999}', '{"a": 1e999}', id="a number that overflows"),
        pytest.param('{"a": 1} x', '{"a": 1} x', id="text after the object"),
        pytest.param('{"a":' * 101 + "1" + "}" * 101, '{"a":' * 101 + "1" + "}" * 101, id="too deep"),
    ],
)
async def test_arguments_are_a_json_object_or_the_text_itself(
    arguments: str, params: dict[str, object] | str, model: str
) -> None:
    with ModelServer(Reply(calls=(Call("bash", arguments),))) as server:
        result = await ask(server, model=model)
    assert [call.params for call in result.reply.tool_calls] == [params]


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_lone_surrogates_become_replacement_characters(model: str) -> None:
    with ModelServer(Reply(text="a\ud800b", calls=(Call("ba\udfffsh", id="c\ud800"),))) as server:
        reply = (await ask(server, model=model)).reply
    call = reply.tool_calls[0]
    assert (reply.text, call.tool, call.id) == ("a\ufffdb", "ba\ufffdsh", "c\ufffd")


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_every_call_of_a_turn_has_an_id_of_its_own(model: str) -> None:
    ids = ["a", "a", "", "b", "x" * 1000]
    with ModelServer(Reply(calls=tuple(Call("bash", id=call_id) for call_id in ids))) as server:
        reply = (await ask(server, model=model)).reply
    assert [call.id for call in reply.tool_calls] == ["a", "call-1-2", "call-1-3", "b", "call-1-5"]


async def test_a_long_tool_name_is_shortened() -> None:
    with ModelServer(Reply(calls=(Call("x" * 5000),))) as server:
        reply = (await ask(server)).reply
    assert [call.tool for call in reply.tool_calls] == ["x" * 200]


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        pytest.param(Reply(), "it was empty", id="nothing"),
        pytest.param(Reply(text=" \n "), "it was empty", id="blanks"),
        pytest.param(Reply(reasoning="Hm."), "it was empty", id="reasoning alone"),
        pytest.param(
            Reply(reasoning="Hm.", cut_off=True),
            "it was cut off at the model's output limit before it said anything",
            id="cut off while reasoning",
        ),
        pytest.param(
            Reply(text="So:", calls=(Call("bash", '{"command": "rm -r'),), cut_off=True),
            "it was cut off at the model's output limit within a tool call; make the call shorter",
            id="cut off within a call",
        ),
    ],
)
async def test_a_reply_that_says_nothing_usable_is_unreadable(reply: Reply, reason: str, model: str) -> None:
    with ModelServer(reply) as server:
        result = await ask(server, model=model)
    assert (result.reply.unreadable, result.reply.tool_calls) == (reason, ())


async def test_a_call_at_the_output_limit_counts_only_if_it_is_known_to_be_whole() -> None:
    # Anthropic gives arguments parsed where it does not stream, and what is missing from them does not show.
    cut = Reply(calls=(Call("bash", {"command": "ls"}),), cut_off=True)
    with ModelServer(cut, cut) as server:
        chat = await ask(server, model=CHAT)
        anthropic = await ask(server, model=Whole(ANTHROPIC))
    assert (len(chat.reply.tool_calls), len(anthropic.reply.tool_calls)) == (1, 0)


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_an_answer_at_the_output_limit_is_still_an_answer(model: str) -> None:
    with ModelServer(Reply(text="The files are", cut_off=True)) as server:
        reply = (await ask(server, model=model)).reply
    assert (reply.text, reply.unreadable) == ("The files are", None)


@pytest.mark.parametrize("model", [CHAT, Whole(CHAT)])
async def test_a_refusal_is_the_answer(model: str) -> None:
    body = chat_completion(Reply(), 1)
    body["choices"][0]["message"]["refusal"] = "I will not."
    stream = Stream(chat_events(body, 3, usage=True))
    with ModelServer(Raw(body=body) if isinstance(model, Whole) else stream) as server:
        reply = (await ask(server, model=model)).reply
    assert (reply.text, reply.unreadable) == ("I will not.", None)


async def test_reasoning_between_tags_is_no_part_of_the_answer() -> None:
    with ModelServer(Reply(text="<think>Hm.</think>\n\nYes.")) as server:
        reply = (await ask(server)).reply
    assert (reply.text, reply.reasoning) == ("Yes.", "Hm.")


_EVENTS = message_events(message(Reply(text="Hello.", calls=(Call("bash", {"command": "ls"}),)), 1))


@pytest.mark.parametrize("count", range(1, len(_EVENTS) - 1))
async def test_the_beginning_of_a_stream_is_never_taken_for_the_whole(count: int) -> None:
    beginning = Raw(body=b"".join(_EVENTS[:count]), headers={"content-type": "text/event-stream"})
    with ModelServer(beginning) as server, pytest.raises(ModelUnavailableError, match="broke off"):
        await ask(server, model=Whole(STREAMED))


async def test_a_prompted_model_calls_tools_in_its_text() -> None:
    calls = {"reasoning": "Look.", "tool_calls": [{"tool": "bash", "params": {"command": "ls"}}]}
    with ModelServer(Reply(text=f"```json\n{json.dumps(calls)}\n```")) as server:
        reply = (await ask(server, protocol="prompted")).reply
    assert reply == AssistantMessage(
        reasoning="Look.", tool_calls=(ToolCall(id="call-1", tool="bash", params={"command": "ls"}),)
    )


async def test_a_prompted_call_that_was_cut_off_says_so() -> None:
    with ModelServer(Reply(text='{"tool_calls": [{"tool": "bash", "pa', cut_off=True)) as server:
        reply = (await ask(server, protocol="prompted")).reply
    assert (reply.unreadable or "").startswith("it was cut off at the model's output limit: its JSON object")


async def test_a_closing_reply_that_calls_tools_is_passed_on() -> None:
    with ModelServer(Reply(calls=(Call("bash", {"command": "ls"}),))) as server:
        reply = (await ask(server, closing=True)).reply
    assert [call.tool for call in reply.tool_calls] == ["bash"]
