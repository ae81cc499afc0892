"""How a worker process ends, and what becomes of its runs."""

import signal
from collections.abc import Generator

import pytest

from tests.activities.tools.tool_run import is_alive, until
from tests.conftest import RealServer
from tests.console.command import Command, Ended, Surefoot
from tests.console.lasting_tools import Gated, Lingering
from tests.console.tools_on_disk import write_tool
from tests.workers.real_workers import pid_told_in

OUTCOME = "steps: [{call: [{%s: {}}]}, {say: '{{last.error_code}}, having said {{last.stdout}}'}]\n"
THEN_THINK = "steps: [{call: [{act: {}}]}, {say: Thought., delay_seconds: 2}]\n"
RUNS = 3


class Place:
    """A queue of a test's own on the shared server, with one directory of tools."""

    def __init__(self, surefoot: Surefoot, server: RealServer) -> None:
        self._surefoot = surefoot
        self.tools = surefoot.directory / "tools"
        self.tools.mkdir()
        self.options = ("--address", server.address, "--queue", f"queue-of-{surefoot.directory.name}")

    def worker(self, *, grace_seconds: float = 10) -> Command:
        """Give a worker that serves."""
        environment = {"SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT": str(grace_seconds)}
        worker = self._surefoot.start(
            *("worker", *self.options, "--tools", self.tools, "--workspace", "shared"),
            environment=environment,
        )
        worker.until_it_says('"event": "serving"')
        return worker

    def run(self, script: str, *more: str) -> Command:
        file = self._surefoot.directory / "script.yaml"
        file.write_text(script)
        return self._surefoot.start(
            "run", "Go on.", *self.options, "--model", f"scripted:{file}", "-o", "jsonl", *more
        )


@pytest.fixture
def place(surefoot: Surefoot, server: RealServer) -> Place:
    return Place(surefoot, server)


@pytest.fixture
def lingering(place: Place) -> Generator[Lingering]:
    tool = Lingering(place.tools, heartbeatSeconds=2)
    yield tool
    tool.end()


def answer(ended: Ended) -> str:
    return ended.event("run_finished")["answer"]


def process_of(place: Place) -> int:
    return pid_told_in(place.tools.parent / "process-id")


def test_a_call_that_ends_within_the_grace_of_a_stopped_worker_counts(place: Place) -> None:
    gated = Gated(place.tools)
    worker = place.worker()
    run = place.run("steps: [{call: [{gated: {}}]}, {say: 'It said {{last.result}}.'}]")
    run.until(gated.has_begun)

    worker.signal(signal.SIGTERM)
    worker.until_it_says("running calls have 10s")
    gated.open()
    stopped = worker.ends()
    place.worker()

    assert (stopped.exit_code, answer(run.ends())) == (0, "It said true.")


def test_a_call_that_outlasts_the_grace_is_interrupted_with_what_it_had_said_and_is_gone(
    place: Place, lingering: Lingering
) -> None:
    worker = place.worker(grace_seconds=0.5)
    run = place.run(OUTCOME % "linger")
    run.until(lingering.has_begun)
    process_id = process_of(place)

    worker.signal(signal.SIGTERM)
    stopped = worker.ends()
    survived = is_alive(process_id)
    place.worker()

    assert (stopped.exit_code, survived) == (0, False)
    assert answer(run.ends()) == "TOOL_INTERRUPTED, having said begun"


async def test_a_second_signal_stops_a_worker_at_once_and_its_tools_with_it(
    place: Place, lingering: Lingering
) -> None:
    worker = place.worker(grace_seconds=60)
    run = place.run(OUTCOME % "linger")
    run.until(lingering.has_begun)
    process_id = process_of(place)

    worker.signal(signal.SIGTERM)
    worker.until_it_says("Again to stop at once")
    worker.signal(signal.SIGTERM)
    stopped = worker.ends(seconds=2)
    await until(lambda: not is_alive(process_id))
    place.worker()

    assert (stopped.exit_code, answer(run.ends()).partition(",")[0]) == (0, "TOOL_LOST")


@pytest.mark.long
def test_runs_whose_worker_was_killed_in_a_model_turn_go_on_and_repeat_no_tool(place: Place) -> None:
    effects = place.tools.parent / "effects"
    write_tool(place.tools, "act", f"echo acted >> {effects}; echo true")
    worker = place.worker()
    runs = [place.run(THEN_THINK) for _ in range(RUNS)]
    for run in runs:
        run.until(lambda run=run: run.stdout.count('"type": "turn_started"') == 2)

    worker.kill()
    place.worker()
    ends = [run.ends() for run in runs]

    assert [(ended.exit_code, answer(ended)) for ended in ends] == [(0, "Thought.")] * RUNS
    assert effects.read_text() == "acted\n" * RUNS
