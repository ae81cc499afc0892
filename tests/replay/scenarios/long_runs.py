"""What keeps a long run going: chains, versions, the context window, results that are kept."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from activities.interface import EXCERPT_METADATA, LlmTurnResult
from activities.scripted.model import ScriptedModel
from activities.scripted.script import parse_script
from surefoot.conversation import Message
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.replay.history_file import IDENTITY
from tests.replay.stage import Stage, ended
from tests.workers.real_workers import says as printed
from tests.workers.real_workers import until_running, worker_of
from tests.workers.versions import make_current, of_worker
from tests.workflows.agents import Act, Replies, answer, calls, never, says, serving, tool
from tests.workflows.operators import cancel_call, until_scheduled

LOOK: list[tuple[str, JsonValue]] = [("look", {})]
EVERY_TURN = {"max_events": 1}


async def large(_: RawValue) -> JsonValue:
    return "x" * 100_000


async def lengthy(_: RawValue) -> JsonValue:
    return "x" * 3_000


async def continues_as_new(stage: Stage) -> None:
    """A chain of four runs."""
    await stage.play([*[calls(*LOOK)] * 3, says("Done.")], [tool("look", answer)], chain=EVERY_TURN)


async def continues_as_new_from_the_store(stage: Stage) -> None:
    """A chain whose messages are too large to travel along it."""
    model = [*[calls(*LOOK * 3)] * 3, says("Done.")]
    await stage.play(model, [tool("look", large)], chain={"max_bytes": 250_000})


async def continues_as_new_after_an_update(stage: Stage) -> None:
    """A call is cancelled, which is enough for the run to continue as new."""
    model = Replies([calls(("wait", {})), calls(*LOOK), says("Done.")])
    tools = [tool("look", answer), tool("wait", never)]
    async with serving(stage.client, model, tools, queue=stage.name):
        run = await stage.start(stage.name, chain={"max_updates": 1})
        await until_scheduled(run, "1-1")
        await cancel_call(run, "1-1")
        await ended(run)


async def continues_as_new_before_its_closing_turn(stage: Stage) -> None:
    """A limit of turns is reached in a later run of a chain."""
    model = [*[calls(*LOOK)] * 3, says("What I have.")]
    await stage.play(model, [tool("look", answer)], chain=EVERY_TURN, limits={"max_turns": 3})


async def moves_to_a_new_version(stage: Stage) -> None:
    """A run that is pinned ends its turn, and goes on with the version that became current."""
    write_tool(stage.directory / "tools", "x", f"{SHELL}echo '\"begun\"'; {WAIT_FOR_GO}\n")
    model = Replies([calls(("x", {})), says("Done.")])
    place: dict[str, Any] = {"queue": stage.name, "deployment": stage.name}
    other = await of_worker(stage.client, IDENTITY)
    async with worker_of(stage.client, stage.directory, model, build_id="1", **place):
        await make_current(stage.client, stage.name, "1")
        run = await stage.start(stage.name)
        await until_running(run, printed('"begun"\n'))
        async with worker_of(other, stage.directory, model, build_id="2", **place):
            await make_current(stage.client, stage.name, "2")
            (stage.directory / "go").touch()
            await ended(run)


class Talk:
    """A scripted model."""

    def __init__(self, turns: int, *lines: str) -> None:
        looks = f"- call: [{{look: {{}}}}]\n  repeat: {turns - 1}"
        self._script = "\n".join(["steps:", looks, "- say: Done.", "summary: {say: It looked.}", *lines])

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        script = parse_script(self._script.encode(), file="talk.yaml")
        return await ScriptedModel(script).reply(messages, closing=closing)


async def _talk(stage: Stage, model: Talk, act: Act, **run: object) -> None:
    async with serving(stage.client, model, [tool("look", act)], queue=stage.name):
        await ended(await stage.start(stage.name, **run))


async def conversation_is_made_smaller(stage: Stage) -> None:
    """A window that is known fills again and again."""
    await _talk(stage, Talk(20, "context_window: 7000"), lengthy)


async def conversation_overflows(stage: Stage) -> None:
    """A provider refuses a conversation that is too long, and tells its window."""
    await _talk(stage, Talk(14, "overflow: {above_bytes: 20000, window_tokens: 6000}"), lengthy)


async def conversation_that_cannot_fit(stage: Stage) -> None:
    """A prompt that is too long for its model fails the run."""
    await _talk(stage, Talk(3, "overflow: {above_bytes: 2000}"), lengthy, prompt="x" * 5_000)


async def conversation_is_made_smaller_in_a_chain(stage: Stage) -> None:
    """A large conversation goes on from the store, smaller, and along a chain."""
    await _talk(stage, Talk(12, "context_window: 160000"), large, chain={"max_bytes": 400_000})


async def result_is_kept_whole(stage: Stage) -> None:
    """A result that stands for a larger one, and need not be what the tool's schema says."""
    metadata = {"encoding": b"json/plain", EXCERPT_METADATA: b"true"}
    excerpt = RawValue(Payload(metadata=metadata, data=b'"the beginning"'))

    async def tell(_: RawValue) -> RawValue:
        return excerpt

    tools = [tool("look", tell, outputSchema={"type": "object"})]
    await stage.play([calls(*LOOK), says("Done.")], tools)


SCENARIOS = (
    continues_as_new,
    continues_as_new_from_the_store,
    continues_as_new_after_an_update,
    continues_as_new_before_its_closing_turn,
    moves_to_a_new_version,
    conversation_is_made_smaller,
    conversation_overflows,
    conversation_that_cannot_fit,
    conversation_is_made_smaller_in_a_chain,
    result_is_kept_whole,
)
