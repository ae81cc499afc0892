"""What befalls real tools and their workers."""

from pydantic import JsonValue

from surefoot.run import ChainLimits
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.replay.scenarios.real_tools import BEGUN, HANGS, own_tools
from tests.replay.stage import Stage, ended
from tests.workers.real_workers import WorkerProcess, until_running, worker_of
from tests.workers.role_workers import parts
from tests.workflows.agents import FakeTool, Replies, answer, calls, says, serving, tool


async def tools_on_disk(stage: Stage) -> None:
    """Real tools: one answers, one crashes, one is too slow, one talks nonsense, one too much."""
    tools = stage.directory / "tools"
    write_tool(tools, "good", f"{SHELL}echo '{{\"ok\": true}}'\n")
    write_tool(tools, "crash", f"{SHELL}echo out; echo err >&2; kill -SEGV $$\n")
    write_tool(tools, "slow", HANGS, timeoutSeconds=1)
    write_tool(tools, "nonsense", f"{SHELL}echo nonsense\n")
    write_tool(tools, "flood", f"{SHELL}yes surefoot | head -c 3000000; exit 1\n")
    async with own_tools(stage, "good", "crash slow nonsense flood", "good good") as run:
        await ended(run)


def _elsewhere(stage: Stage, *names: str) -> list[FakeTool]:
    """Tools on disk that another queue's worker serves, as the run knows them."""
    queued: dict[str, JsonValue] = {"executorQueue": stage.other_queue, "heartbeatSeconds": 2}
    for name in names:
        write_tool(stage.directory / "tools", name, HANGS)
    return [tool(name, answer, **queued) for name in names]


async def executor_queue(stage: Stage) -> None:
    """A worker of another queue answers."""
    tools = _elsewhere(stage, "x")
    write_tool(stage.directory / "tools", "x", f"{SHELL}echo '[1, 2]'\n")
    async with worker_of(stage.client, stage.directory, Replies([]), queue=stage.other_queue):
        await stage.play([calls(("x", {})), says("Done.")], tools)


async def tool_interrupted(stage: Stage) -> None:
    """The worker of a call is shut down."""
    model = Replies([calls(("x", {})), says("Done.")])
    async with serving(stage.client, model, _elsewhere(stage, "x"), queue=stage.name):
        settings = {"graceful_shutdown_timeout": 0}
        async with worker_of(stage.client, stage.directory, Replies([]), queue=stage.other_queue, **settings):
            run = await stage.start(stage.name)
            await until_running(run, BEGUN)
        await ended(run)


async def tool_lost_with_its_worker(stage: Stage) -> None:
    """The worker of two calls is killed."""
    model = Replies([calls(("x", {}), ("y", {})), says("Done.")])
    async with serving(stage.client, model, _elsewhere(stage, "x", "y"), queue=stage.name):
        with WorkerProcess(stage.client, stage.directory, queue=stage.other_queue) as worker:
            run = await stage.start(stage.name)
            await until_running(run, BEGUN)
            worker.kill()
        await ended(run)


async def roles_apart(stage: Stage) -> None:
    """Workers of three roles do each their part, also after the run continues as new."""
    write_tool(stage.directory / "tools", "x", f"{SHELL}echo '[1, 2]'\n")
    model = Replies([calls(("x", {})), says("Done.")])
    async with parts(stage.client, stage.directory, model, "agent", "llm", "tools", queue=stage.name):
        await ended(await stage.start(stage.name, chain=ChainLimits(max_events=1)))


SCENARIOS = (
    tools_on_disk,
    executor_queue,
    roles_apart,
    tool_interrupted,
    tool_lost_with_its_worker,
)
