"""What a provider is given of an outcome from the world outside."""

from hypothesis import given
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart

from activities.providers.messages import native_messages, prompted_messages
from surefoot.conversation import ToolMessage
from surefoot.outcome import ToolFailure, ToolSuccess, envelope
from tests.surefoot.arbitrary import OUTCOMES, TEXTS


def contents(messages: list[ModelMessage]) -> list[object]:
    return [
        part.content
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart | UserPromptPart)
    ]


@given(OUTCOMES, TEXTS)
def test_the_message_is_the_envelope_byte_for_byte(outcome: ToolSuccess | ToolFailure, tool: str) -> None:
    marked = ToolMessage(call_id="c1", tool=tool, outcome=outcome, untrusted=True)
    plain = marked.model_copy(update={"untrusted": False})

    assert contents(native_messages([marked], provider="p")) == [envelope(outcome)]
    assert contents(prompted_messages([marked])) == contents(prompted_messages([plain]))
