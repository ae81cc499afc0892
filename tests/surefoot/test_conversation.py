import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from temporalio.contrib.pydantic import pydantic_data_converter

from surefoot.conversation import (
    NO_DIGEST,
    AssistantMessage,
    Conversation,
    Message,
    Prefix,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    message_bytes,
)
from surefoot.definition import ToolDefinition
from surefoot.outcome import ToolSuccess
from surefoot.run import ConversationPage
from tests.surefoot.arbitrary import MESSAGES

CONVERSATIONS = st.lists(MESSAGES, max_size=5).map(tuple)


def digest(*messages: Message) -> str:
    return Conversation().append(*messages).digest


def as_json(messages: tuple[Message, ...]) -> list[str]:
    return [message.model_dump_json() for message in messages]


@given(messages=CONVERSATIONS)
def test_a_conversation_survives_a_payload_with_its_digest(messages: tuple[Message, ...]) -> None:
    converter = pydantic_data_converter.payload_converter
    payload = converter.to_payload(ConversationPage(messages=messages))
    arrived = converter.from_payload(payload, ConversationPage).messages
    assert (as_json(arrived), digest(*arrived)) == (as_json(messages), digest(*messages))


@given(messages=CONVERSATIONS, at=st.integers(0, 5))
def test_it_is_the_same_appended_at_once_and_one_by_one(messages: tuple[Message, ...], at: int) -> None:
    one_by_one = Conversation()
    for message in messages:
        one_by_one = one_by_one.append(message)
    in_two = Conversation().append(*messages[:at]).append(*messages[at:])
    assert Conversation().append(*messages) == one_by_one == in_two


@given(some=CONVERSATIONS, others=CONVERSATIONS)
def test_two_digests_are_equal_only_for_the_same_messages(
    some: tuple[Message, ...], others: tuple[Message, ...]
) -> None:
    assert (digest(*some) == digest(*others)) == (as_json(some) == as_json(others))


@given(messages=CONVERSATIONS, length=st.integers(0, 5))
def test_a_beginning_has_a_digest_of_its_own(messages: tuple[Message, ...], length: int) -> None:
    beginning = messages[:length]
    assert (digest(*beginning) == digest(*messages)) == (len(beginning) == len(messages))


def reply(**fields: JsonValue) -> AssistantMessage:
    return AssistantMessage.model_validate(fields)


def calling(params: JsonValue, *, call_id: str = "1", tool: str = "t") -> AssistantMessage:
    return AssistantMessage(tool_calls=(ToolCall(id=call_id, tool=tool, params=params),))


def offering(**fields: JsonValue) -> SystemMessage:
    definition = {"name": "t", "description": "d", "inputSchema": {}, **fields}
    return SystemMessage(text="", tools=(ToolDefinition.model_validate(definition),))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(UserMessage(text="a"), UserMessage(text="b"), id="text"),
        pytest.param(UserMessage(text="a"), SystemMessage(text="a"), id="role"),
        pytest.param(UserMessage(text="a"), UserMessage(text="a", purpose="closing"), id="purpose"),
        pytest.param(reply(), reply(text=" "), id="an empty text and a space"),
        pytest.param(reply(text="a"), reply(reasoning="a"), id="text and reasoning"),
        pytest.param(reply(), reply(unreadable=""), id="readable and unreadable"),
        pytest.param(reply(), reply(provider="p"), id="provider"),
        pytest.param(reply(), reply(provider_state=False), id="no provider state and false"),
        pytest.param(reply(provider_state=[{}]), reply(provider_state=[[]]), id="deep in the provider state"),
        pytest.param(calling({}), calling({}, call_id="2"), id="a call's id"),
        pytest.param(calling({}), calling({}, tool="u"), id="a call's tool"),
        pytest.param(calling({"a": 1}), calling({"a": 1.0}), id="an integer and a number"),
        pytest.param(calling({"a": 1}), calling({"a": True}), id="one and true"),
        pytest.param(calling({"a": 0.0}), calling({"a": -0.0}), id="zero and minus zero"),
        pytest.param(calling("{}"), calling({}), id="an object and its text"),
        pytest.param(
            ToolMessage(call_id="1", tool="t", outcome=ToolSuccess(tool="t", result=None)),
            ToolMessage(call_id="1", tool="t", outcome=ToolSuccess(tool="t", result=False)),
            id="the outcome",
        ),
        pytest.param(
            ToolMessage(call_id="1", tool="t", outcome=ToolSuccess(tool="t", result=None)),
            ToolMessage(call_id="1", tool="t", outcome=ToolSuccess(tool="t", result=None), untrusted=True),
            id="whether it is from outside",
        ),
        pytest.param(offering(), SystemMessage(text=""), id="a tool and none"),
        pytest.param(offering(), offering(timeoutSeconds=31), id="a tool's timeout"),
        pytest.param(offering(), offering(heartbeatSeconds=None), id="a tool without heartbeats"),
        pytest.param(offering(), offering(annotations={"readOnlyHint": False}), id="a tool's annotations"),
        pytest.param(offering(), offering(limits={"stderr": 4_097}), id="a tool's limits"),
    ],
)
def test_a_digest_differs_when_anything_does(one: Message, other: Message) -> None:
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((UserMessage(text="ab"),), (UserMessage(text="a"), UserMessage(text="b")), id="split"),
        pytest.param(
            (UserMessage(text="a"), UserMessage(text="b")),
            (UserMessage(text="b"), UserMessage(text="a")),
            id="swap",
        ),
        pytest.param((UserMessage(text="a"),), (UserMessage(text="a"),) * 2, id="twice"),
        pytest.param((), (reply(),), id="nothing and an empty reply"),
    ],
)
def test_a_digest_differs_with_the_order_and_the_number_of_messages(
    one: tuple[Message, ...], other: tuple[Message, ...]
) -> None:
    assert digest(*one) != digest(*other)


def test_a_field_that_is_at_its_default_leaves_the_digest_as_it_was_before_the_field_came() -> None:
    known = {"purpose": "prompt", "text": "a"}
    assert digest(UserMessage.model_validate(known)) == digest(UserMessage(text="a"))


def test_the_digest_of_a_conversation_never_changes() -> None:
    written_once = digest(
        offering(usage="u"),
        UserMessage(text="é"),
        calling({"b": [1, 2.5, None], "a": "x"}),
        ToolMessage(call_id="1", tool="t", outcome=ToolSuccess(tool="t", result={"ok": True})),
        reply(text="done"),
    )
    assert written_once == "de63f9f291dab7310274ae8e7c5b6afa4e13ddb55a056d801907c11a7363d4b3"


SAID = Conversation().append(SystemMessage(text="s"), UserMessage(text="u"))


@pytest.mark.parametrize(
    ("messages", "turns", "closing"),
    [
        pytest.param((), 0, False, id="no reply yet"),
        pytest.param((reply(text="a"),), 1, False, id="a reply"),
        pytest.param(
            (reply(unreadable="empty"), UserMessage(text="", purpose="correction")), 1, False, id="bad"
        ),
        pytest.param((calling({}), UserMessage(text="", purpose="closing")), 1, True, id="told to close"),
        pytest.param((UserMessage(text="", purpose="closing"), reply(text="a")), 1, True, id="closed"),
        pytest.param(
            (UserMessage(text="", purpose="closing"), reply(text="a"), UserMessage(text="go on")),
            1,
            False,
            id="asked again after the close",
        ),
    ],
)
def test_a_conversation_counts_replies_and_knows_whether_it_closes(
    messages: tuple[Message, ...], turns: int, closing: bool
) -> None:
    said = SAID.append(*messages)
    assert (said.turns, said.closing) == (turns, closing)


def test_a_conversation_is_named_by_its_length_and_digest() -> None:
    assert (Conversation().prefix, SAID.prefix, SAID.last) == (
        Prefix(length=0, digest=NO_DIGEST),
        Prefix(length=2, digest=digest(SystemMessage(text="s"), UserMessage(text="u"))),
        UserMessage(text="u"),
    )


def test_appending_leaves_the_conversation_as_it_was() -> None:
    before = SAID.prefix
    SAID.append(UserMessage(text="more"))
    assert (SAID.prefix, SAID.append()) == (before, SAID)


@given(message=MESSAGES)
def test_a_message_is_as_large_as_its_json(message: Message) -> None:
    assert message_bytes(message) == len(message.model_dump_json().encode())
