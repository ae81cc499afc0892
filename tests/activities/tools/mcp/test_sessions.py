import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.mcp.servers import Calls, calling, endpoint, rogue
from tests.activities.tools.tool_run import TAG, is_alive, tagged, until

ROOT = Path(__file__).parents[4]


async def _around(call: Calls) -> dict[str, Any]:
    return json.loads(await call.text("r__around"))


async def test_one_process_serves_all_calls_where_the_run_works(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue(env={"KEY": "${SECRET}"})) as call:
        first, second = await _around(call), await _around(call)
    environment = first["environment"]
    assert (first["pid"], first["directory"], environment["KEY"]) == (second["pid"], str(tmp_path), "key")
    assert "SECRET" not in environment
    assert not [name for name in environment if name.startswith("SUREFOOT_")]


async def test_a_call_that_timed_out_leaves_the_session_to_the_others(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue()) as call:
        before = await _around(call)
        late, hung = await asyncio.gather(
            call("r__later", {"seconds": 2.5}), call("r__hangs", seconds=1.5), return_exceptions=True
        )
        after = await _around(call)
    assert isinstance(late, ToolSuccess)
    assert isinstance(hung, ToolFailure)
    assert (hung.error_code, before["pid"]) == ("TOOL_TIMEOUT", after["pid"])
    cancelled = json.loads((tmp_path / "cancelled").read_text())
    assert cancelled["reason"] == "caller cancelled"


async def test_a_dead_session_fails_the_calls_in_flight_and_no_later_one(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue()) as call:
        before = await _around(call)
        waiting = asyncio.create_task(call("r__hangs"))
        died, waited = await asyncio.gather(call("r__exits-with-3"), waiting)
        after = await _around(call)
    codes = [one.error_code for one in (died, waited) if isinstance(one, ToolFailure)]
    assert (codes, before["pid"] != after["pid"]) == (["TOOL_LOST", "TOOL_LOST"], True)


async def test_a_server_that_stopped_for_good_is_started_anew(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue()) as call:
        before = await _around(call)
        blocked = await call("r__blocks", seconds=1)
        again = await call("r__around", seconds=20)
        after = await _around(call)
        await until(lambda: not is_alive(before["pid"]))
    assert isinstance(blocked, ToolFailure)
    assert (blocked.error_code, isinstance(again, ToolSuccess), before["pid"] != after["pid"]) == (
        "TOOL_TIMEOUT",
        True,
        True,
    )


@pytest.mark.parametrize("tool", ["hangs", "blocks"])
async def test_a_cancel_of_ours_passes_through(tmp_path: Path, tool: str) -> None:
    async with calling(tmp_path, r=rogue()) as call:
        await call("r__echo")
        running = asyncio.create_task(call(f"r__{tool}"))
        await until(lambda: len((tmp_path / "side-effects").read_text().split()) == 2)
        running.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert time.monotonic() - began < 4


async def test_a_server_of_the_newest_version_alone_is_used_as_well(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue("modern")) as call:
        assert await call("r__adds", {"a": 1}) == ToolSuccess(tool="r__adds", result={"sum": 1})


async def test_calls_side_by_side_get_their_own_answers(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue()) as call:
        texts = await asyncio.gather(*(call.text("r__echo", {"n": n}) for n in range(100)))
    assert [json.loads(text)["n"] for text in texts] == list(range(100))


async def test_nothing_of_a_server_is_left_when_its_executor_ends(tmp_path: Path) -> None:
    tag = f"mcp-{tmp_path.name}"
    async with calling(tmp_path, r=rogue("stubborn", env={TAG: tag})) as call:
        child = int(await call.text("r__forks"))
        assert is_alive(child)
        assert len(tagged(tag)) >= 4
        began = time.monotonic()
    assert (tagged(tag), time.monotonic() - began < 4) == ([], True)


_HOLDS = """
import asyncio, sys
from pathlib import Path
from tests.activities.tools.mcp.servers import calling, rogue

async def hold(directory, tag):
    async with calling(directory, r=rogue("stubborn", env={"SUREFOOT_TEST_TAG": tag})) as call:
        await call("r__forks")
        (directory / "held").touch()
        await asyncio.Event().wait()

asyncio.run(hold(Path(sys.argv[1]), sys.argv[2]))
"""


async def test_nothing_of_a_server_is_left_when_its_worker_is_killed(tmp_path: Path) -> None:
    tag = f"mcp-{tmp_path.name}"
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _HOLDS, str(tmp_path), tag), cwd=ROOT
    )
    try:
        await until((tmp_path / "held").exists)
        held = len(tagged(tag))
    finally:
        worker.kill()
        await worker.wait()
    await until(lambda: not tagged(tag))
    assert held >= 4


async def test_over_http_each_call_has_a_session_of_its_own_and_ends_it(tmp_path: Path) -> None:
    with endpoint(tmp_path) as url:
        async with calling(tmp_path, r={"url": url}) as call:
            for _ in range(3):
                await call("r__echo")
            hung = await call("r__hangs", seconds=1.5)
            await call.executor.close()
            seen = json.loads(await call.text("r__ended"))
    # The first session was the one in which the tools were listed.
    assert (isinstance(hung, ToolFailure), seen) == (True, {"ended": 5, "cancelled": 1})
