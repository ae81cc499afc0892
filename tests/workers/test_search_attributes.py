import asyncio

from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from workers.search_attributes import missing_search_attributes, register_search_attributes


async def test_the_embedded_server_has_them_all(client: Client) -> None:
    assert dict(await missing_search_attributes(client)) == {}


async def test_several_may_register_them_at_once(client: Client) -> None:
    await asyncio.gather(*(register_search_attributes(client) for _ in range(3)))

    assert dict(await missing_search_attributes(client)) == {}


async def test_a_run_is_found_by_what_it_was_started_with(client: Client) -> None:
    waiting = SearchAttributePair(SearchAttributeKey.for_keyword("SurefootStatus"), "waiting")
    cost = SearchAttributePair(SearchAttributeKey.for_float("SurefootCost"), 1.25)
    run = await client.start_workflow(
        "any", id="found", task_queue="nobody", search_attributes=TypedSearchAttributes([waiting, cost])
    )
    found: list[str] = []
    while not found:
        query = 'SurefootStatus = "waiting" AND SurefootCost > 1.2 AND WorkflowId = "found"'
        found = [execution.id async for execution in client.list_workflows(query)]
    await run.terminate()

    assert found == ["found"]
