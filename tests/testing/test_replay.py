from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from surefoot.testing.replay import DoesNotReplayError, chain_of, read_history, record, replays
from tests.replay.changed_code import Sleeping
from tests.workflows.agents import Replies, answer, calls, says, serving, start, tool


async def a_run(time_skipping: WorkflowEnvironment) -> str:
    model = Replies([calls(("x", {})), says("Done.")])
    async with serving(time_skipping.client, model, [tool("x", answer)]) as queue:
        run = await start(time_skipping.client, queue)
        await run.result()
    return run.id


@pytest.mark.parametrize("name", ["talk.json", "talk.json.gz"])
async def test_a_recorded_run_is_read_back_as_it_was_and_replays(
    time_skipping: WorkflowEnvironment, tmp_path: Path, name: str
) -> None:
    run_id = await a_run(time_skipping)

    (file,) = await record(time_skipping.client, run_id, tmp_path / "histories" / name)

    (history,) = await chain_of(time_skipping.client, run_id)
    assert file == tmp_path / "histories" / name
    assert read_history(file).events == history.events
    await replays(history)
    await replays(file)
    await replays(tmp_path)


async def test_code_that_does_something_else_is_told_with_the_first_difference(
    time_skipping: WorkflowEnvironment, tmp_path: Path
) -> None:
    await record(time_skipping.client, await a_run(time_skipping), tmp_path / "talk.json")

    with pytest.raises(DoesNotReplayError) as told:
        await replays(tmp_path, code=Sleeping)

    first, problem = str(told.value).split("\n", 1)
    assert first == "this code does not go on where a recorded run is"
    assert problem.startswith("talk: ")
    assert "Nondeterminism" in problem


async def test_a_directory_without_a_history_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no recorded history"):
        await replays(tmp_path)


async def test_a_name_that_says_no_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ends with \.json or \.json\.gz"):
        await replays(tmp_path / "talk.txt")
