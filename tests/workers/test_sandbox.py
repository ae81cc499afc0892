import dataclasses
import zlib
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.json_format import MessageToJson
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import PayloadCodec
from temporalio.worker import Replayer

from surefoot.outcome import ToolSuccess
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.workers.real_workers import working
from tests.workflows.agents import Replies, answer, calls, finish, says, serving, start, tool
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent


class Squeezed(PayloadCodec):
    """Encodes so that nothing can be read without it, as an encrypting codec does."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload(metadata={"encoding": b"squeezed"}, data=_squeezed(payload)) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload.FromString(zlib.decompress(payload.data)) for payload in payloads]


def _squeezed(payload: Payload) -> bytes:
    return zlib.compress(payload.SerializeToString())


async def test_a_codec_of_payloads_encodes_all_that_a_run_says(client: Client) -> None:
    config = client.config()
    config["data_converter"] = dataclasses.replace(config["data_converter"], payload_codec=Squeezed())
    coded = Client(**config)
    replies = [calls(("look", {"at": "secret"})), says("secret")]
    async with serving(coded, Replies(replies), [tool("look", answer)]) as queue:
        handle = await start(coded, queue, prompt="secret")
        finished = await finish(handle)
    history = "".join(MessageToJson(event) for event in (await handle.fetch_history()).events)
    assert (finished.outcomes, finished.result.answer) == (
        [ToolSuccess(tool="look", result={"ok": True})],
        "secret",
    )
    assert ("squeezed" in history or "c3F1ZWV6ZWQ" in history, "json/plain" in history) == (True, False)


async def test_a_run_says_nothing_in_a_worker_that_its_sandbox_refuses(
    tmp_path: Path, client: Client
) -> None:
    write_tool(tmp_path / "tools", "look", SHELL + "echo 1")
    replies = [calls(("look", {}), ("missing", {})), says("done")]
    async with working(client, tmp_path, Replies(replies)) as queue:
        handle = await start(client, queue)
        await handle.result()
    replayer = Replayer(
        workflows=[Agent], workflow_runner=workflow_sandbox(), data_converter=client.data_converter
    )
    replayed = await replayer.replay_workflow(await handle.fetch_history(), raise_on_replay_failure=False)
    assert replayed.replay_failure is None
