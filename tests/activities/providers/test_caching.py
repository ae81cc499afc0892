import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from activities.providers.caching import prompt_cache_key, takes_cache_keys
from activities.providers.opening import open_provider_model
from activities.providers.settings import ProviderSettings
from surefoot.conversation import Message, ToolMessage, UserMessage
from surefoot.run import Protocol
from tests.activities.openai_server import Call, ModelServer, Reply
from tests.activities.providers.asking import (
    ANSWER,
    ANTHROPIC,
    CHAT,
    EVERY_PROTOCOL,
    PROMPT,
    RESPONSES,
    SYSTEM,
    ask,
    settings,
)


async def requests_of_turns(model: str, protocol: Protocol, *replies: Reply) -> list[dict[str, Any]]:
    """What goes over the wire, turn after turn, while the model goes on calling its tool."""
    messages: list[Message] = [SYSTEM, PROMPT]
    with ModelServer(*replies) as server:
        opened = open_provider_model(model, protocol=protocol, settings=settings(server))
        for _ in replies:
            reply = (await opened.reply(messages, closing=False)).reply
            outcomes = [ToolMessage(call_id=c.id, tool=c.tool, outcome=ANSWER) for c in reply.tool_calls]
            messages += [reply, *outcomes]
        await opened.close()
        return [request.body for request in server.requests]


def split(body: dict[str, Any]) -> tuple[str, str]:
    """What stands before the messages, and the messages up to where more of them can follow."""
    name = "input" if "input" in body else "messages"
    before = {key: value for key, value in body.items() if key != name}
    return json.dumps(before), json.dumps(body[name])[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize("protocol", ["native", "prompted"])
async def test_each_turn_begins_byte_for_byte_with_the_turn_before(model: str, protocol: Protocol) -> None:
    call = Call("bash", {"command": "ls"})
    written = json.dumps({"reasoning": "r", "tool_calls": [{"tool": "bash", "params": {"command": "ls"}}]})
    asking = (
        Reply(text="So.", calls=(call,), reasoning="Hm.") if protocol == "native" else Reply(text=written)
    )

    bodies = await requests_of_turns(model, protocol, asking, asking, asking, Reply(text="Done."))

    parts = [split(body) for body in bodies]
    assert {before for before, _ in parts} == {parts[0][0]}
    assert all(later.startswith(earlier) for (_, earlier), (_, later) in pairwise(parts))
    assert len({said for _, said in parts}) == 4


@pytest.mark.parametrize("model", [CHAT, RESPONSES])
async def test_openai_is_given_a_key_that_stays_the_same_through_a_run(model: str) -> None:
    later = (SYSTEM, PROMPT, UserMessage(text="In short: …", purpose="summary"))
    with ModelServer(Reply(text="1"), Reply(text="2")) as server:
        known = replace(settings(server), openai_cache_keys=True)
        opened = open_provider_model(model, protocol="native", settings=known)
        for messages in ((SYSTEM, PROMPT), later):
            await opened.reply(messages, closing=False)
        await opened.close()
        keys = [request.body["prompt_cache_key"] for request in server.requests]
    assert keys == [prompt_cache_key((SYSTEM, PROMPT))] * 2
    assert len(keys[0]) == 32


def test_runs_with_other_prompts_have_other_keys() -> None:
    assert prompt_cache_key((SYSTEM, PROMPT)) != prompt_cache_key((SYSTEM, UserMessage(text="Else.")))


@pytest.mark.parametrize(
    ("base_url", "told", "takes"),
    [
        pytest.param("https://api.openai.com/v1/", None, True, id="OpenAI"),
        pytest.param("http://127.0.0.1:8000/v1/", None, False, id="a server of one's own"),
        pytest.param("http://127.0.0.1:8000/v1/", True, True, id="a server that is said to"),
        pytest.param(None, None, False, id="no address"),
    ],
)
def test_only_openai_gets_keys_unasked(base_url: str | None, told: bool | None, takes: bool) -> None:
    assert takes_cache_keys(base_url, ProviderSettings(openai_cache_keys=told)) is takes


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_cached_tokens_are_counted_as_part_of_the_input(model: str) -> None:
    # Anthropic counts cached tokens beside the others, OpenAI among them.
    uncached = 10 if model.startswith("anthropic") else 1_010
    with ModelServer(Reply(text="Hi.", input_tokens=uncached, cached_tokens=1_000)) as server:
        usage = (await ask(server, model=model)).usage
    assert (usage.input_tokens, usage.cache_read_tokens) == (1_010, 1_000)


async def test_anthropic_moves_its_mark_forward_by_itself() -> None:
    bodies = await requests_of_turns(
        ANTHROPIC, "native", Reply(calls=(Call("bash", {"command": "ls"}),)), Reply(text="Done.")
    )
    kept = {"type": "ephemeral", "ttl": "5m"}
    assert [body["cache_control"] for body in bodies] == [kept, kept]
    assert all("cache_control" not in json.dumps(body["messages"]) for body in bodies)


@pytest.mark.parametrize(
    ("model", "calls", "marked"),
    [
        pytest.param(ANTHROPIC, 10, True, id="what Anthropic cached is out of its sight"),
        pytest.param(ANTHROPIC, 9, False, id="it is within its sight"),
        pytest.param(CHAT, 30, False, id="another provider"),
    ],
)
async def test_after_a_turn_of_many_calls_the_end_of_the_request_before_is_marked(
    model: str, calls: int, *, marked: bool
) -> None:
    few = Reply(calls=(Call("bash", {"command": "ls"}),))
    many = Reply(calls=tuple(Call("bash", {"command": f"ls {n}"}) for n in range(calls)))
    *_, before, last = await requests_of_turns(model, "native", few, many, Reply(text="Done."))
    length = len(before["messages"])
    assert ("cache_control" in json.dumps(last["messages"][:length])) is marked
    assert "cache_control" not in json.dumps(last["messages"][length:])
    if marked:
        assert last["messages"][length - 1]["content"][-1].pop("cache_control")
    assert last["messages"][:length] == before["messages"]
