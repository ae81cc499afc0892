from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.carried import Said
from surefoot.conversation import Conversation, Message
from tests.surefoot.arbitrary import MESSAGES


@settings(max_examples=40)
@given(st.lists(MESSAGES, max_size=6))
def test_a_conversation_that_travelled_is_the_same(messages: list[Message]) -> None:
    said = Conversation().append(*messages)

    assert Said.model_validate_json(Said.of(said).model_dump_json()).conversation() == said


def test_replies_that_could_not_be_read_count_as_corrections_since_they_were_carried_under_that_name() -> (
    None
):
    travelled = '{"messages": [], "digest": "d", "turns": 2, "unreadable_in_a_row": 2}'

    assert Said.model_validate_json(travelled).conversation().corrections_in_a_row == 2
