import asyncio
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import JsonValue

from activities.draft import Draft
from activities.interface import Written
from activities.model import ModelRefusedError, ModelUnavailableError
from activities.scripted.model import ScriptedModel
from activities.scripted.script import parse_script
from surefoot.conversation import (
    AssistantMessage,
    Conversation,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.failures import Captured, crashed, timed_out
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.usage import Usage

Outcome = ToolSuccess | ToolFailure

OPENING: tuple[Message, ...] = (SystemMessage(text="Be sure-footed."), UserMessage(text="Count the files"))
NO_CALLS: Sequence[Outcome] = ()
TIMEOUT = timed_out("slow", timedelta(seconds=2), Captured(stdout="item 1\n"))
CRASH = crashed("buggy", 139, Captured(stderr="Segmentation fault\n"))


def listed(stdout: str = "3\n", exit_code: int = 0) -> ToolSuccess:
    return ToolSuccess(tool="bash", result={"stdout": stdout, "exit_code": exit_code})


def scripted(text: str, *, attempt: int = 1) -> ScriptedModel:
    return ScriptedModel(parse_script(text.encode(), file="talk.yaml"), attempt=attempt)


async def talk(text: str, *turns: Sequence[Outcome]) -> list[AssistantMessage]:
    """Give the replies of a conversation whose calls come to these outcomes, turn by turn."""
    messages, replies = list(OPENING), list[AssistantMessage]()
    for outcomes in (*turns, ()):
        # A model of its own for each turn: nothing is kept but the conversation.
        reply = (await scripted(text).reply(messages, closing=False)).reply
        replies.append(reply)
        messages += [reply, *map(answered, reply.tool_calls, outcomes)]
    return replies


def answered(call: ToolCall, outcome: Outcome) -> ToolMessage:
    return ToolMessage(call_id=call.id, tool=call.tool, outcome=outcome)


async def refusal(text: str, *turns: Sequence[Outcome]) -> str:
    with pytest.raises(ModelRefusedError) as caught:
        await talk(text, *turns)
    return str(caught.value)


async def test_a_reply_holds_what_its_step_says_and_calls() -> None:
    model = scripted(
        "steps:\n"
        "- say: I look.\n  reasoning: Files first.\n  usage: {input_tokens: 7, output_tokens: 2}\n"
        "  call:\n  - bash: {command: ls}\n    as: files\n  - bash: ls -la\n"
    )
    result = await model.reply(OPENING, closing=False)
    assert (result.reply, result.usage, result.model_name) == (
        AssistantMessage(
            text="I look.",
            reasoning="Files first.",
            tool_calls=(
                ToolCall(id="files", tool="bash", params={"command": "ls"}),
                ToolCall(id="1-2", tool="bash", params="ls -la"),
            ),
            provider="scripted",
            provider_state={"step": 0, "given": 1},
        ),
        Usage(requests=1, input_tokens=7, output_tokens=2),
        "scripted:talk.yaml",
    )


async def test_a_script_can_say_what_its_model_costs_and_how_much_fits_it() -> None:
    model = scripted(
        "price: {input: 1, output: 2, cache_read: 0.5}\ncontext_window: 8000\n"
        "steps:\n- say: a\n  usage: {input_tokens: 3000, output_tokens: 1000, cache_read_tokens: 1000}\n"
    )
    result = await model.reply(OPENING, closing=False)
    assert (result.usage.cost, result.context_window) == (Decimal("0.0045"), 8_000)


BRANCHES = """
steps:
  - call: [{slow: }, {bash: {command: ls}}]
  - choose:
      - when: {error_code: TOOL_TIMEOUT}
        say: "timeout, after {{matched.stdout}}"
        call: [bash: ]
      - when: {tool: bash, result: {exit_code: {not: 0}}}
        say: "exit code {{matched.result.exit_code}}"
        call: [bash: ]
      - say: all went well
        call: [bash: ]
  - when: {result: {stdout: {contains: extra}}}
    say: one more look
    call: [bash: ]
  - say: done
"""


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        pytest.param(
            [[TIMEOUT, listed()], [listed()]], ["", "timeout, after item 1", "done"], id="by error_code"
        ),
        pytest.param(
            [[listed(), listed(exit_code=2)], [listed()]], ["", "exit code 2", "done"], id="by field"
        ),
        pytest.param([[listed(), listed()], [listed()]], ["", "all went well", "done"], id="by nothing"),
        pytest.param(
            [[TIMEOUT, listed(exit_code=2)], [listed("extra"), listed()], [CRASH]],
            ["", "timeout, after item 1", "one more look", "done"],
            id="the first of two that fit, and a step that is not always given",
        ),
    ],
)
async def test_a_script_reacts_to_what_its_calls_came_to(
    turns: list[Sequence[Outcome]], said: list[str]
) -> None:
    assert [reply.text for reply in await talk(BRANCHES, *turns)] == said


async def test_a_condition_with_several_patterns_wants_an_outcome_for_each() -> None:
    text = (
        "steps:\n- call: [{slow: }, {buggy: }]\n"
        "- when: [{error_code: TOOL_CRASHED}, {error_code: TOOL_TIMEOUT}]\n"
        "  say: '{{matched.exit_code}}, and {{last.error_code}} of {{outcomes.0.tool}}'\n"
        "- say: not both\n"
    )
    both, one = await talk(text, [TIMEOUT, CRASH]), await talk(text, [TIMEOUT, listed()])
    assert (both[-1].text, one[-1].text) == ("139, and TOOL_CRASHED of slow", "not both")


async def test_a_named_outcome_can_be_told_turns_later() -> None:
    text = (
        "steps:\n- call: [{bash: , as: files}, {bash: , as: todos}]\n- call: [{bash: , as: todos}]\n"
        "- call: [{look: {at: '{{files.result}}', times: '{{todos.result.exit_code}}'}}]\n"
        "- say: '{{files.result.stdout}} files, {{todos.result.stdout}} todos: {{prompt}}'\n"
    )
    turns = [[listed("8\n"), listed("1\n")], [listed("2\n")], [listed()]]
    replies = await talk(text, *turns)
    assert (replies[2].tool_calls[0].params, replies[3].text) == (
        {"at": {"stdout": "8\n", "exit_code": 0}, "times": 0},
        "8 files, 2 todos: Count the files",
    )


async def test_a_repeated_step_is_given_as_often_as_it_says() -> None:
    text = "steps:\n- repeat: 200\n  call: [{bash: , as: one}]\n- say: '{{one.result.stdout}}'\n"
    replies = await talk(text, *([listed(f"{number}\n")] for number in range(200)))
    assert (len(replies), replies[-1].text) == (201, "199")


async def test_a_repeated_step_is_over_when_its_condition_is_not_met_any_more() -> None:
    again = "- when: {result: {exit_code: 1}}\n  repeat: 9\n  call: [bash: ]\n"
    text = f"steps:\n- call: [bash: ]\n{again}- say: ok\n"
    replies = await talk(text, [listed(exit_code=1)], [listed(exit_code=1)], [listed()])
    assert [len(reply.tool_calls) for reply in replies] == [1, 1, 1, 0]


async def test_the_same_conversation_always_gets_the_same_reply() -> None:
    opening = (await scripted(BRANCHES).reply(OPENING, closing=False)).reply
    messages = [*OPENING, opening, answered(opening.tool_calls[0], TIMEOUT)]
    first = await scripted(BRANCHES).reply(messages, closing=False)
    assert await scripted(BRANCHES, attempt=4).reply(messages, closing=False) == first


async def test_a_reply_of_another_provider_does_not_move_the_script() -> None:
    other = AssistantMessage(text="hm", provider="openai", provider_state={"step": 3, "given": 1})
    result = await scripted("steps: [{say: first}, {say: second}]").reply([*OPENING, other], closing=False)
    assert result.reply.text == "first"


async def test_an_unreadable_reply_is_followed_by_the_next_step() -> None:
    replies = await talk("steps:\n- unreadable: no JSON\n  say: '{'\n- say: sorry\n", [])
    assert [(reply.unreadable, reply.text) for reply in replies] == [("no JSON", "{"), (None, "sorry")]


@pytest.mark.parametrize(
    ("text", "turns", "problem"),
    [
        pytest.param(
            "steps:\n- call: [{slow: }, {bash: }]\n- when: {error_code: TOOL_CRASHED}\n  say: x\n",
            [[TIMEOUT, listed()]],
            "talk.yaml, line 2: no step that fits is left after this; "
            'the last calls came to slow: TOOL_TIMEOUT; bash: success, {"stdout": "3\\n", "exit_code": 0}',
            id="no step that fits",
        ),
        pytest.param(
            "steps: [{say: x}]",
            [NO_CALLS],
            "talk.yaml, line 1: no step that fits is left after this; there were no calls just before",
            id="no step",
        ),
        pytest.param(
            "steps:\n- when: {tool: x}\n  say: x\n",
            [],
            "talk.yaml: no step that fits is left after this; there were no calls just before",
            id="no first step",
        ),
        pytest.param(
            "steps:\n- call: [slow: ]\n- choose:\n  - when: {tool: bash}\n    say: x\n",
            [[TIMEOUT]],
            "talk.yaml, line 3: none of the replies to choose from fits; "
            "the last calls came to slow: TOOL_TIMEOUT",
            id="no choice that fits",
        ),
        pytest.param(
            "steps:\n- call: [slow: ]\n- say: '{{last.result.stdout}}'\n",
            [[TIMEOUT]],
            "talk.yaml, line 3: the template '{{last.result.stdout}}' is not there: "
            "last has tool, tool_success, error, error_code, exit_code, stdout, stderr",
            id="a template of what is not there",
        ),
        pytest.param(
            "steps:\n- say: hm\n- fail: {refused: 'the key was revoked'}\n",
            [NO_CALLS],
            "the key was revoked",
            id="a refusal",
        ),
    ],
)
async def test_a_script_that_cannot_go_on_refuses_and_says_where(
    text: str, turns: list[Sequence[Outcome]], problem: str
) -> None:
    assert await refusal(text, *turns) == problem


@pytest.mark.parametrize(
    "state",
    [pytest.param(None, id="none"), pytest.param({"step": -1}, id="negative"), pytest.param("1", id="text")],
)
async def test_a_position_that_is_none_is_refused(state: JsonValue) -> None:
    strange = AssistantMessage(provider="scripted", provider_state=state)
    with pytest.raises(ModelRefusedError, match="no position in a script"):
        await scripted("steps: [{say: x}]").reply([*OPENING, strange], closing=False)


FLAKY = "steps:\n- fail: {unavailable: overloaded, retry_after_seconds: 90, times: 2}\n  say: here I am\n"


@pytest.mark.parametrize("attempt", [1, 2])
async def test_an_unavailable_model_says_when_to_come_back(attempt: int) -> None:
    with pytest.raises(ModelUnavailableError) as caught:
        await scripted(FLAKY, attempt=attempt).reply(OPENING, closing=False)
    assert caught.value == ModelUnavailableError("overloaded", timedelta(seconds=90))


async def test_an_unavailable_model_heals_after_its_times() -> None:
    assert (await scripted(FLAKY, attempt=3).reply(OPENING, closing=False)).reply.text == "here I am"


async def test_a_model_that_is_always_unavailable_never_heals() -> None:
    with pytest.raises(ModelUnavailableError, match="down"):
        await scripted("steps: [{fail: {unavailable: down}}]", attempt=999).reply(OPENING, closing=False)


CALLING = "steps:\n- say: I look.\n  call: [{bash: , as: files}]\n- say: never\n"


@pytest.mark.parametrize(
    ("closing", "answer"),
    [
        pytest.param("", "I look.", id="what it said last"),
        pytest.param(
            "closing: {say: 'So far {{last.result.stdout}} files.'}", "So far 3 files.", id="its own"
        ),
        pytest.param("closing: {say: '{{files.result.exit_code}}'}", "0", id="its own, with a named outcome"),
    ],
)
async def test_a_closing_model_answers_without_calls(closing: str, answer: str) -> None:
    model = scripted(CALLING + closing)
    reply = (await model.reply(OPENING, closing=False)).reply
    messages = [*OPENING, reply, answered(reply.tool_calls[0], listed())]
    closed = (await model.reply([*messages, UserMessage(text="!", purpose="closing")], closing=True)).reply
    assert (closed.text, closed.tool_calls) == (answer, ())


async def test_a_closing_model_that_never_spoke_says_so() -> None:
    assert (await scripted(CALLING).reply(OPENING, closing=True)).reply.text == "I have no more to say."


async def test_a_closing_template_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(
        ModelRefusedError, match=r"talk\.yaml, line 5: the template '{{files\.stdout}}' is not there"
    ):
        await scripted(CALLING + "closing: {say: '{{files.stdout}}'}").reply(OPENING, closing=True)


async def test_a_reply_survives_the_conversation_it_joins() -> None:
    reply = (await scripted(CALLING).reply(OPENING, closing=False)).reply
    travelled = AssistantMessage.model_validate_json(reply.model_dump_json())
    assert Conversation().append(travelled).prefix == Conversation().append(reply).prefix


async def test_a_reply_is_written_word_by_word_for_those_who_look() -> None:
    text = "steps: [{say: one two three, reasoning: Hm., call: [{bash: {command: ls}}], write_seconds: 0.2}]"
    draft, looks = Draft(), list[Written]()

    asking = asyncio.create_task(scripted(text).draft_reply(OPENING, closing=False, draft=draft))
    while not asking.done():
        await asyncio.sleep(0.001)
        looks += [now for now in [draft.written()] if not looks or looks[-1] != now]
    reply = (await asking).reply

    assert reply == (await scripted(text.replace("0.2", "0")).reply(OPENING, closing=False)).reply
    assert [look.text for look in looks if look.doing == "text"] == ["one ", "one two ", "one two three"]
    assert {look.doing for look in looks} == {"reasoning", "text", "call"}
    assert (looks[-1].tool, looks[-1].characters) == ("bash", len('Hm.one two three{"command": "ls"}'))
