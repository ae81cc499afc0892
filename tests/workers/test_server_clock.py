from datetime import timedelta

from temporalio.client import Client

from workers.server_clock import server_clock


async def test_a_server_on_this_machine_has_its_clock(client: Client) -> None:
    ahead = await server_clock(client)

    assert ahead is not None
    assert timedelta(0) <= ahead < timedelta(seconds=5)


async def test_it_is_found_out_again_and_leaves_no_run(client: Client) -> None:
    before = [run.run_id async for run in client.list_workflows("TaskQueue = 'surefoot-clock'")]
    first, second = await server_clock(client), await server_clock(client)
    after = [run.run_id async for run in client.list_workflows("TaskQueue = 'surefoot-clock'")]

    assert None not in (first, second)
    assert before == after == []
