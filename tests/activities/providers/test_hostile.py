import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.interface import LlmTurnResult
from activities.model import ModelRefusedError, ModelUnavailableError
from surefoot.outcome import ToolSuccess
from tests.activities.openai_server import Call, ModelServer, Raw, Reply, Stream
from tests.activities.providers.asking import (
    ANTHROPIC,
    CHAT,
    RESPONSES,
    Whole,
    after_one_turn,
    ask,
)
from tests.activities.providers.events import chat_events, response_events
from tests.activities.providers.wire import chat_completion, message, message_events, response

REPLY = Reply(text="Look:", reasoning="Hm.", calls=(Call("bash", {"command": "ls"}),))
BODIES = {CHAT: chat_completion(REPLY, 1), RESPONSES: response(REPLY, 1), ANTHROPIC: message(REPLY, 1)}
STREAMS = {
    CHAT: chat_events(BODIES[CHAT], 9, usage=True)[:-1],
    RESPONSES: response_events(BODIES[RESPONSES], 9),
    ANTHROPIC: message_events(BODIES[ANTHROPIC], 9),
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def places(value: JsonValue, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    children: dict[Any, JsonValue] = {}
    match value:
        case dict():
            children = dict(value)
        case list():
            children = dict(enumerate(value))
        case _:
            pass
    for key, child in children.items():
        yield (*path, key)
        yield from places(child, (*path, key))


@st.composite
def broken(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    """A valid body with one field missing, or holding anything else."""
    body = copy.deepcopy(body)
    *path, last = draw(st.sampled_from(list(places(body))))
    inner: Any = body
    for key in path:
        inner = inner[key]
    if draw(st.booleans()):
        inner[last] = draw(anything)
    else:
        del inner[last]
    return body


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", list(BODIES))
@examples(max_examples=25, deadline=None)
@given(data=st.data())
async def test_whatever_a_provider_answers_the_run_can_go_on(data: st.DataObject, model: str) -> None:
    body = data.draw(broken(BODIES[model]))
    with ModelServer(Raw(body=body), Reply(text="Done.")) as server:
        try:
            result = await ask(server, model=Whole(model))
        except (ModelRefusedError, ModelUnavailableError):
            return
        assert LlmTurnResult.model_validate_json(result.model_dump_json()) == result
        outcomes = [ToolSuccess(tool="bash", result=1)] * len(result.reply.tool_calls)
        afterwards = await ask(server, after_one_turn(result.reply, *outcomes), model=Whole(model))
    assert afterwards.reply.text == "Done."


@st.composite
def broken_stream(draw: st.DrawFn, events: list[bytes]) -> list[bytes]:
    """A stream of which one event is missing, comes twice or is another, and which may end too early."""
    at = draw(st.integers(0, len(events) - 1))
    head, _, rest = events[at].partition(b"data: ")
    event = draw(broken(json.loads(rest)))
    others: list[list[bytes]] = [
        [],
        [events[at]] * 2,
        [head + b"data: " + json.dumps(event).encode() + b"\n\n"],
        [head + b"data: " + draw(st.binary(max_size=9)) + b"\n\n"],
        [draw(st.binary(max_size=9)) + b"\n\n", events[at]],
    ]
    return [*events[:at], *draw(st.sampled_from(others)), *events[at + 1 : draw(st.integers(at, 99))]]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", list(STREAMS))
@examples(max_examples=40, deadline=None)
@given(data=st.data())
async def test_whatever_a_provider_streams_the_run_can_go_on(data: st.DataObject, model: str) -> None:
    events = data.draw(broken_stream(STREAMS[model]))
    stream = Stream(events, cut=data.draw(st.booleans()))
    with ModelServer(stream, *[Reply(text="Done.")] * 3) as server:
        try:
            result = await ask(server, model=model)
        except (ModelRefusedError, ModelUnavailableError):
            return
        assert LlmTurnResult.model_validate_json(result.model_dump_json()) == result
        outcomes = [ToolSuccess(tool="bash", result=1)] * len(result.reply.tool_calls)
        afterwards = await ask(server, after_one_turn(result.reply, *outcomes), model=model)
    assert afterwards.reply.text == "Done."
