import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from surefoot.conversation import AssistantMessage, SystemMessage, UserMessage
from surefoot.events import RunFinished
from surefoot.output_schema import answer_rules
from surefoot.told import misfit_text
from tests.workflows.agents import Replies, answer, calls, finish, says, serving, start, tool

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"files": {"type": "integer"}},
    "required": ["files"],
}
LOOK: list[tuple[str, JsonValue]] = [("look", {})]
FITS = says('```json\n{"files": 4}\n```')


async def test_an_answer_that_does_not_fit_is_corrected(client: Client) -> None:
    model = Replies(
        [
            *[says("{}"), AssistantMessage(unreadable="it was empty"), calls(*LOOK)],
            *[says("There are 4."), says("[]"), FITS],
        ]
    )
    async with serving(client, model, [tool("look", answer)]) as queue:
        run = await finish(await start(client, queue, output_schema=SCHEMA))

    system, *_ = model.asked[-1][0]
    corrections = [m.text for m in model.asked[-1][0] if isinstance(m, UserMessage)][1:]
    ending = run.events[-1]
    assert isinstance(ending, RunFinished)
    assert isinstance(system, SystemMessage)
    assert system.text.endswith(answer_rules(SCHEMA))
    assert (run.result.status, run.result.output, run.result.answer) == ("completed", {"files": 4}, FITS.text)
    assert (ending.output, ending.answer) == (run.result.output, run.result.answer)
    assert corrections == [
        misfit_text("files: required, and missing"),
        "Your last reply could not be read: it was empty. Reply again.",
        misfit_text("it is not one JSON value and nothing else: Expecting value at character 0"),
        misfit_text('[] is not of type "object"'),
    ]


@pytest.mark.parametrize(
    "chain", [pytest.param({}, id="one run"), pytest.param({"max_events": 1}, id="a run for every turn")]
)
async def test_three_answers_in_a_row_that_do_not_fit_fail_the_run(
    client: Client, chain: dict[str, int]
) -> None:
    async with serving(client, Replies([says("{}")] * 3)) as queue:
        handle = await start(client, queue, output_schema=SCHEMA, chain=chain)
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.message == (
        "the model keeps giving answers that do not fit the output schema: files: required, and missing"
    )


@pytest.mark.parametrize(
    ("said", "output"),
    [
        pytest.param('{"files": 4}', {"files": 4}, id="it fits"),
        pytest.param("I do not know.", None, id="it does not"),
    ],
)
async def test_a_limit_ends_the_run_with_the_answer_that_there_is(
    client: Client, said: str, output: JsonValue
) -> None:
    model = Replies([calls(*LOOK), says(said)])
    async with serving(client, model, [tool("look", answer)]) as queue:
        run = await finish(await start(client, queue, output_schema=SCHEMA, limits={"max_turns": 1}))

    assert (run.result.status, run.result.answer, run.result.output) == ("limit_reached", said, output)


async def test_the_largest_answer_that_fits_can_be_carried(client: Client) -> None:
    large = '{"files": 4, "x": "' + "x" * 786_000 + '"}'
    async with serving(client, Replies([says(large)])) as queue:
        run = await finish(await start(client, queue, output_schema=SCHEMA))

    assert run.result.answer == large
    assert run.events[-1].model_dump(include={"output"}) == {"output": run.result.output}
