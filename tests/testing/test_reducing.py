from datetime import timedelta

import pytest

from surefoot import ToolFailed, reducer
from surefoot.slices import Slice
from surefoot.testing import Environment, FakeTool, call, script


@reducer("failures", initial={}, on=ToolFailed)
def failures(state: dict[str, int], event: ToolFailed) -> dict[str, int]:
    return {**state, event.tool: state.get(event.tool, 0) + 1}


@reducer("wrong")
async def wrong(_state: object, _event: object) -> None: ...


async def test_a_finished_run_tells_what_reducers_make_of_it(surefoot_environment: Environment) -> None:
    tool = FakeTool("note").fails("TOOL_CRASHED").answers({"ok": True})
    run = await surefoot_environment.run(
        "Go.", model=script(call("note"), call("note"), "Done."), tools=[tool]
    )

    assert run.slices(failures) == {"failures": Slice(state={"note": 1}, events=1)}
    with pytest.raises(ValueError, match="has no @reducer above it"):
        run.slices(print)
    with pytest.raises(ValueError, match="wrong: must be a plain function"):
        run.slices(wrong)


async def test_a_run_on_its_way_can_be_told_something(surefoot_environment: Environment) -> None:
    model = script(call("note"), "You said: {{message}}")
    slow = FakeTool("note").answers(1, after=timedelta(seconds=20))
    async with surefoot_environment.running("Go.", model=model, tools=[slow]) as run:
        await run.send("Hurry.", sender="Ada")
        finished = await run.end()

    assert finished.answer == "You said: Hurry."
    assert "user: Hurry." in str(finished.transcript)
