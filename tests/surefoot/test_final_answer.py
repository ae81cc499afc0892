from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, Conversation, SystemMessage, UserMessage
from surefoot.final_answer import Answer, Misfit, read_answer
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits
from surefoot.model_text import scrub
from surefoot.schema import problems
from surefoot.spent import NOTHING_SPENT
from surefoot.strict_json import encode_json
from surefoot.told import misfit_text
from surefoot.turn import CallModel, Finish, LimitReached, ModelUnreadable, Tell, next_step
from tests.surefoot.arbitrary import JSON_VALUES

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"files": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
    "required": ["files"],
    "additionalProperties": False,
}
FOUR = Answer({"files": 4})
NOT_JSON = "it is not one JSON value and nothing else:"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param('{"files": 4}', FOUR, id="the value alone"),
        pytest.param(' \n{"files":\n4}\n', FOUR, id="blanks around and within"),
        pytest.param('```json\n{"files": 4}\n```', FOUR, id="a fence"),
        pytest.param('\n```\n{"files": 4}```\n', FOUR, id="a fence without a language"),
        pytest.param('```json {"files": 4} ```', FOUR, id="a fence on one line"),
        pytest.param('````JSON5 \n{"files": 4}\n````', FOUR, id="a longer fence"),
        pytest.param(
            '```json\n{"files": 4, "names": ["```"]}\n```',
            Answer({"files": 4, "names": ["```"]}),
            id="a fence within a string",
        ),
        pytest.param("", Misfit("it was empty"), id="nothing"),
        pytest.param("```json\n```", Misfit("it was empty"), id="nothing in a fence"),
        pytest.param("``````", Misfit("it was empty"), id="nothing but a fence"),
        pytest.param(
            'Here it is: {"files": 4}',
            Misfit(f"{NOT_JSON} Expecting value at character 0"),
            id="prose before",
        ),
        pytest.param(
            '{"files": 4} That is all.', Misfit(f"{NOT_JSON} Extra data at character 13"), id="prose after"
        ),
        pytest.param(
            'So:\n```json\n{"files": 4}\n```',
            Misfit(f"{NOT_JSON} Expecting value at character 0"),
            id="prose before a fence",
        ),
        pytest.param(
            '```json\n{"files": 4}\n```\n```json\n{"files": 5}\n```',
            Misfit(f"{NOT_JSON} Extra data at character 13"),
            id="two fences",
        ),
        pytest.param(
            '{"files": 4',
            Misfit(f"{NOT_JSON} Expecting ',' delimiter at character 11"),
            id="cut off",
        ),
        pytest.param(
            '{"files": 4, "files": 5}',
            Misfit(f"{NOT_JSON} the key 'files' stands twice in one object"),
            id="a key twice",
        ),
        pytest.param('{"files": NaN}', Misfit(f"{NOT_JSON} NaN is not JSON"), id="not a number"),
        pytest.param(
            '{"files": 4, "names": ["\\ud800"]}',
            Misfit(f"{NOT_JSON} a lone surrogate in a string"),
            id="half a surrogate pair",
        ),
        pytest.param("[" * 5_000, Misfit(f"{NOT_JSON} nested deeper than 100"), id="nested without end"),
        pytest.param(
            '{"names": [7]}',
            Misfit('files: required, and missing; names[0]: 7 is not of type "string"'),
            id="field by field",
        ),
        pytest.param('"4"', Misfit('"4" is not of type "object"'), id="another type"),
        pytest.param(
            '{"files": 4, "more": 1}', Misfit("the object: has no such field: more"), id="a field too many"
        ),
        pytest.param(
            encode_json({"files": 4, "names": ["x" * 800_000]}),
            Misfit("it is above the limit of 768KB"),
            id="too large",
        ),
        pytest.param("[" + "0," * 60_000 + "0]", Misfit("it holds more than 50,000 values"), id="too many"),
    ],
)
def test_a_final_answer_is_one_json_value_that_fits(text: str, answer: Answer | Misfit) -> None:
    assert read_answer(text, SCHEMA) == answer


def test_a_value_that_is_longer_than_its_text_is_measured_too() -> None:
    assert read_answer("[" + "9e15," * 49_000 + "1]", {}) == Misfit("it is above the limit of 768KB")


_WRITTEN = JSON_VALUES.map(encode_json)
_TEXTS = st.one_of(
    st.text(st.characters(codec=None), max_size=20),
    _WRITTEN,
    _WRITTEN.map(lambda text: f"```json\n{text}\n```"),
    _WRITTEN.map(lambda text: text[:-1]),
    st.integers().map(lambda files: encode_json({"files": files})),
    st.sampled_from(["```", "``````", '{"files": 1e999}', "{" * 2_000, "\\ud800", "\ud800"]),
)


@given(JSON_VALUES)
def test_whatever_fits_is_given_as_it_is_alone_and_fenced(value: JsonValue) -> None:
    text = encode_json(value)
    assert [read_answer(text, {}), read_answer(f"```json\n{text}\n```", {})] == [Answer(value)] * 2


@settings(max_examples=200, deadline=None)
@given(st.lists(_TEXTS, max_size=8), st.integers(1, 6))
def test_whatever_the_model_says_the_run_completes_only_with_what_fits(
    texts: list[str], max_turns: int
) -> None:
    said = Conversation().append(SystemMessage(text="s"), UserMessage(text="u"))
    replies, in_a_row = iter(texts), 0
    while True:
        match next_step(said, Limits(max_turns=max_turns), NOTHING_SPENT, output_schema=SCHEMA):
            case CallModel():
                said = said.append(AssistantMessage(text=scrub(next(replies, '{"files": 0}'))))
            case Tell(message=message):
                in_a_row += message.purpose == "correction"
                said = said.append(message)
            case Finish(answer=answer, output=output):
                assert (problems(SCHEMA, output), read_answer(answer, SCHEMA)) == ((), Answer(output))
                return
            case LimitReached(output=output):
                assert output is None or not problems(SCHEMA, output)
                return
            case ModelUnreadable():
                assert in_a_row == MAX_UNREADABLE_REPLIES - 1
                return
            case other:
                raise AssertionError(other)


KEEPS_GIVING = "the model keeps giving answers that do not fit the output schema"
BAD = AssistantMessage(text="{}")
CORRECTION = UserMessage(text=misfit_text("files: required, and missing"), purpose="correction")
UNREADABLE = AssistantMessage(unreadable="it was empty")
RESULT_TEXT = '```json\n{"files": 4}\n```'
GOOD = AssistantMessage(text=RESULT_TEXT)
CLOSING = UserMessage(
    text="The limit of 1 turn is reached, and no more tools can be called. "
    "Answer now with what you have, as one JSON value that fits the output schema.",
    purpose="closing",
)


@pytest.mark.parametrize(
    ("said", "step"),
    [
        pytest.param([GOOD], Finish(RESULT_TEXT, {"files": 4}), id="an answer that fits"),
        pytest.param([BAD], Tell(CORRECTION), id="one that does not"),
        pytest.param([BAD, CORRECTION, GOOD], Finish(RESULT_TEXT, {"files": 4}), id="corrected"),
        pytest.param(
            [BAD, CORRECTION, UNREADABLE, CORRECTION, BAD],
            ModelUnreadable(f"{KEEPS_GIVING}: files: required, and missing"),
            id="replies that cannot be read count with those that do not fit",
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_corrected_a_few_times(said: list[Any], step: object) -> None:
    conversation = Conversation().append(SystemMessage(text="s"), UserMessage(text="u"), *said)
    assert next_step(conversation, Limits(), NOTHING_SPENT, output_schema=SCHEMA) == step


@pytest.mark.parametrize(
    ("said", "step"),
    [
        pytest.param([BAD, CORRECTION], Tell(CLOSING, "limit of 1 turn"), id="told what to answer with"),
        pytest.param(
            [BAD, CORRECTION, CLOSING, GOOD],
            LimitReached("limit of 1 turn", RESULT_TEXT, {"files": 4}),
            id="an answer that fits",
        ),
        pytest.param(
            [BAD, CORRECTION, CLOSING, BAD],
            LimitReached("limit of 1 turn", "{}"),
            id="one that does not is given as it is",
        ),
    ],
)
def test_a_limit_ends_the_run_with_what_there_is(said: list[Any], step: object) -> None:
    conversation = Conversation().append(SystemMessage(text="s"), UserMessage(text="u"), *said)
    assert next_step(conversation, Limits(max_turns=1), NOTHING_SPENT, output_schema=SCHEMA) == step
