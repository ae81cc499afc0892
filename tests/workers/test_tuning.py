import asyncio
import time
from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from workers.tuning import DYNAMIC_CONFIGURATION, dynamic_configuration_flags, missing_tuning


@workflow.defn(name="three_short_timers")
class ThreeShortTimers:
    @workflow.run
    async def run(self) -> None:
        for _ in range(3):
            await asyncio.sleep(0.01)


def test_each_key_is_a_flag_with_its_value_as_json() -> None:
    flags = list(dynamic_configuration_flags())

    assert len(flags) == 2 * len(DYNAMIC_CONFIGURATION)
    assert 'history.timerProcessorMaxTimeShift="50ms"' in flags
    assert "system.enableActivityEagerExecution=true" in flags


async def test_timers_of_the_server_are_not_a_second_late_each(client: Client) -> None:
    async with Worker(
        client,
        task_queue="tuning",
        workflows=[ThreeShortTimers],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        begin = time.monotonic()
        await client.execute_workflow(
            ThreeShortTimers.run, id="timers", task_queue="tuning", execution_timeout=timedelta(seconds=20)
        )

    assert time.monotonic() - begin < 2.5


def test_a_server_that_was_started_otherwise_lacks_what_differs() -> None:
    flags = " ".join(["temporal server start-dev", *dynamic_configuration_flags()])

    assert missing_tuning(flags) == ()
    assert missing_tuning(flags.replace('"50ms"', '"1s"')) == ("history.timerProcessorMaxTimeShift",)
