"""What the UI's forms say of each way to ask a run and to steer it."""

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client

from tests.workflows.agents import Replies, says, serving, start

METADATA_QUERY = "__temporal_workflow_metadata"


@pytest.fixture
async def metadata(client: Client) -> WorkflowMetadata:
    async with serving(client, Replies([says("Done.")])) as queue:
        run = await start(client, queue)
        await run.result()
        return await run.query(METADATA_QUERY, result_type=WorkflowMetadata)


async def test_every_query_and_update_says_what_it_takes(metadata: WorkflowMetadata) -> None:
    told = metadata.definition
    ours = [*told.query_definitions, *told.update_definitions]
    said = {one.name: one.description for one in ours if not one.name.startswith("__")}

    assert {name for name, text in said.items() if "Takes" not in text and "such as" not in text} == set()
    assert {"events", "approve", "deny", "pause", "resume", "raise_limit", "send_message"} <= set(said)


async def test_every_signal_is_described(metadata: WorkflowMetadata) -> None:
    assert [one.name for one in metadata.definition.signal_definitions if not one.description] == []
