import pytest

from activities.model import ModelContextOverflowError
from activities.scripted.model import ScriptedModel
from activities.scripted.script import parse_script
from surefoot.conversation import UserMessage
from surefoot.summary_request import summary_request
from tests.surefoot.conversations import OPENING

STEPS = "steps:\n- call: [{look: {}}]\n"
REQUEST = summary_request(prompt="Do it.", earlier="", transcript="The agent: …", limit_bytes=1_024)


def scripted(text: str) -> ScriptedModel:
    return ScriptedModel(parse_script(text.encode(), file="talk.yaml"))


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        pytest.param(STEPS + "summary: {say: It looked twice.}\n", "It looked twice.", id="its own"),
        pytest.param(STEPS, "I have no more to say.", id="none of its own"),
    ],
)
async def test_a_model_that_is_to_summarise_gives_no_step(text: str, summary: str) -> None:
    reply = (await scripted(text).reply(REQUEST, closing=False)).reply
    assert (reply.text, reply.tool_calls) == (summary, ())


async def test_a_conversation_above_the_scripts_size_is_refused() -> None:
    model = scripted(STEPS + "overflow: {above_bytes: 1000, window_tokens: 250}\n")
    assert (await model.reply(OPENING, closing=False)).reply.tool_calls
    with pytest.raises(ModelContextOverflowError, match="are above the 1,000 bytes that fit") as raised:
        await model.reply([*OPENING, UserMessage(text="x" * 1_000)], closing=False)
    assert raised.value.window_tokens == 250


async def test_turns_that_a_summary_stands_for_are_counted() -> None:
    told = UserMessage(text="…", purpose="summary", summarised_turns=7)
    reply = (await scripted(STEPS).reply([*OPENING, told], closing=False)).reply
    assert [call.id for call in reply.tool_calls] == ["8-1"]
