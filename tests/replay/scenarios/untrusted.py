"""Runs that read what comes from outside, and what is asked about afterwards."""

from collections.abc import Awaitable, Callable, Sequence

from tests.replay.stage import Stage, ended
from tests.workflows.agents import FakeTool, Replies, answer, calls, says, serving, tool
from tests.workflows.approving import approve, questions

_FETCH = tool("fetch", answer, annotations={"openWorldHint": True})
_WIPE = tool("wipe", answer, annotations={"destructiveHint": True})
_PROMPT = {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}


async def untrusted_content_is_read(stage: Stage) -> None:
    """The same call is automatic before, and waits for approval afterwards, in a later run of the chain."""
    model = Replies([calls(("wipe", {})), calls(("fetch", {})), calls(("wipe", {})), says("Done.")])
    async with serving(stage.client, model, [_FETCH, _WIPE], queue=stage.name) as queue:
        await stage.start(queue, chain={"max_events": 1}, after_untrusted={"irreversible": "always"})
        run = stage.client.get_workflow_handle(stage.name)
        (question,) = await questions(run)
        await approve(run, question, scope="run")
        await ended(run)


async def untrusted_content_is_read_by_an_agent(stage: Stage) -> None:
    """Its caller has read it, too; an agent that is called later asks for what its caller has read."""
    agents: list[FakeTool] = [
        tool(name, answer, inputSchema=_PROMPT, agent={"key": name, "model": name})
        for name in ("reader", "fixer")
    ]
    replies = [calls((name, {"prompt": "Go."})) for name in ("reader", "fixer")]
    async with serving(
        stage.client,
        Replies([*replies, says("Done.")]),
        agents,
        queue=stage.name,
        models={
            "reader": Replies([calls(("fetch", {})), says("Read.")]),
            "fixer": Replies([calls(("wipe", {})), says("I may not.")]),
        },
        of_agents={"reader": [_FETCH], "fixer": [_WIPE]},
    ) as queue:
        await ended(
            await stage.start(queue, on_approval="deny", after_untrusted={"write": "always"}, network=False)
        )


SCENARIOS: Sequence[Callable[[Stage], Awaitable[None]]] = (
    untrusted_content_is_read,
    untrusted_content_is_read_by_an_agent,
)
