from typing import Any

import pytest
from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, ToolCall
from tests.activities.openai_server import Call, ModelServer, Raw, Reply, Stream
from tests.activities.providers.asking import (
    ANSWER,
    ANTHROPIC,
    CHAT,
    RESPONSES,
    STREAMED,
    Whole,
    after_one_turn,
    ask,
)
from tests.activities.providers.wire import message, message_events

REASONED = Reply(text="Let me look.", reasoning="They want files.", calls=(Call("bash", {"command": "ls"}),))


async def sent_back(first: str, second: str, reply: Reply | Raw | Stream = REASONED) -> list[Any]:
    """What the second model is sent of a reply that the first one gave."""
    with ModelServer(reply, Reply(text="Done.")) as server:
        said = AssistantMessage.model_validate_json(
            (await ask(server, model=first)).reply.model_dump_json(exclude_defaults=True)
        )
        outcomes = [ANSWER] * len(said.tool_calls)
        await ask(server, after_one_turn(said, *outcomes), model=second)
        body = server.requests[1].body
    if "input" in body:
        return [item for item in body["input"] if item.get("role") not in {"system", "user"}][:-1]
    return [said for said in body["messages"] if said["role"] == "assistant"]


@pytest.mark.parametrize("model", [ANTHROPIC, STREAMED])
async def test_signed_thinking_goes_back_to_anthropic_before_text_and_calls(model: str) -> None:
    assert await sent_back(model, model) == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "They want files.", "signature": "signed"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "call_1_1", "name": "bash", "input": {"command": "ls"}},
            ],
        }
    ]


@pytest.mark.parametrize("model", [ANTHROPIC, Whole(ANTHROPIC)])
async def test_the_order_of_a_reply_is_the_providers_own(model: str) -> None:
    body = message(Reply(calls=(Call("bash", {}, id="a"), Call("bash", {}, id="b"))), 1)
    first, second = body["content"]
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "One."},
        {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
        first,
        {"type": "redacted_thinking", "data": "hidden"},
        {"type": "text", "text": "Two."},
        second,
    ]
    body["content"] = blocks
    whole = isinstance(model, Whole)
    back = await sent_back(model, model, Raw(body=body) if whole else Stream(message_events(body, 2)))
    assert back == [{"role": "assistant", "content": blocks}]


async def test_encrypted_reasoning_goes_back_to_openai_with_the_ids_of_its_items() -> None:
    kinds = [
        (item.get("type", "message"), item.get("id"), item.get("encrypted_content"))
        for item in await sent_back("openai:gpt-5.6-sol", "openai:gpt-5.6-sol")
    ]
    assert kinds == [
        ("reasoning", "rs_1", "signed"),
        ("message", "msg_1", None),
        ("function_call", "fc_1_1", None),
    ]


async def test_a_call_that_got_a_new_id_does_not_go_back_under_its_old_item() -> None:
    twice = Reply(reasoning="Hm.", calls=(Call("bash", {}, id="a"), Call("bash", {}, id="a")))
    back = await sent_back("openai:gpt-5.6-sol", "openai:gpt-5.6-sol", twice)
    calls = [(item["call_id"], item.get("id")) for item in back if item.get("type") == "function_call"]
    assert calls == [("a", "fc_1_1"), ("call-1-2", None)]


async def test_open_reasoning_goes_back_to_the_chat_server_that_gave_it() -> None:
    assert [said["reasoning_content"] for said in await sent_back(CHAT, CHAT)] == ["They want files."]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(ANTHROPIC, CHAT, id="from Anthropic to OpenAI"),
        pytest.param(ANTHROPIC, RESPONSES, id="from Anthropic to OpenAI's responses"),
        pytest.param(CHAT, ANTHROPIC, id="from OpenAI to Anthropic"),
    ],
)
async def test_reasoning_goes_to_no_other_provider(first: str, second: str) -> None:
    back = str(await sent_back(first, second))
    assert ("They want" in back, "signed" in back, "Let me look." in back) == (False, False, True)


async def test_a_reply_that_hides_nothing_carries_no_state() -> None:
    with ModelServer(Reply(text="Hi.", calls=(Call("bash", {}),))) as server:
        reply = (await ask(server, model=ANTHROPIC)).reply
    assert (reply.provider, reply.provider_state) == (None, None)


async def test_the_state_repeats_nothing_that_the_message_says() -> None:
    with ModelServer(REASONED) as server:
        state = str((await ask(server, model=ANTHROPIC)).reply.provider_state)
    assert ("They want" in state, "Let me" in state, "'ls'" in state, "signed" in state) == (
        False,
        False,
        False,
        True,
    )


@pytest.mark.parametrize(
    "state",
    [
        pytest.param("?", id="text"),
        pytest.param({"parts": [{"kind": "picture"}]}, id="a kind that nobody knows"),
        pytest.param({"parts": [{"kind": "text", "length": 2, "id": "m"}]}, id="a call too few"),
        pytest.param({"parts": [{"kind": "call", "id": "c"}] * 2}, id="a call too many"),
    ],
)
async def test_state_that_does_not_fit_is_left_out(state: JsonValue) -> None:
    call = ToolCall(id="a", tool="bash", params={})
    reply = AssistantMessage(text="So.", tool_calls=(call,), provider="anthropic", provider_state=state)
    with ModelServer(Reply(text="Done.")) as server:
        await ask(server, after_one_turn(reply, ANSWER), model=ANTHROPIC)
        sent = server.requests[0].body["messages"][1]["content"]
    assert sent == [
        {"type": "text", "text": "So."},
        {"type": "tool_use", "id": "a", "name": "bash", "input": {}},
    ]
