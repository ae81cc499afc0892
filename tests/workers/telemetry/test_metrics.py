import re
from collections.abc import Generator
from pathlib import Path
from urllib.request import urlopen

import pytest
from temporalio.client import Client

from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.deploy.test_observability import metrics
from tests.workers.real_workers import new_queue
from tests.workers.telemetry.page import EVERYWHERE, OF_RUNS, documented_metrics
from tests.workflows.agents import start
from workers.server_ports import free_port

SCRIPT = """
price: {input: 3, output: 15}
steps:
  - call: [works: {}, fails: {}, made_up_1: {}, made_up_2: {}]
    usage: {input_tokens: 1000, output_tokens: 100}
  - say: Done.
    usage: {input_tokens: 2000, output_tokens: 10}
"""

WHEN_IN_TROUBLE = {
    "temporal_request_failure",
    "temporal_sticky_cache_miss",
    "temporal_sticky_cache_total_forced_eviction",
    "temporal_workflow_task_execution_failed",
}
"""What a worker tells of only once it has happened."""


@pytest.fixture
def surefoot(tmp_path: Path, server: RealServer) -> Generator[Surefoot]:
    commands = Surefoot(tmp_path, state_home=server.state_directory.parent)
    yield commands
    commands.clean_up()


def scraped(port: int) -> str:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return str(answer.read(), "utf-8")


def counted(page: str, metric: str, *labels: str) -> dict[tuple[str, ...], float]:
    """Give a metric's values by those of the labels."""
    found = re.findall(rf"^{metric}{{(.*)}} (.+)$", page, re.MULTILINE)
    told = [(dict(re.findall(r'(\w+)="([^"]*)"', said)), float(value)) for said, value in found]
    return {tuple(named[label] for label in labels): value for named, value in told}


def labels(page: str, metric: str) -> set[str]:
    """Give the labels of a metric, without those that all of its kind have."""
    [said, *_] = re.findall(rf"^{metric}(?:_sum)?{{(.*)}} ", page, re.MULTILINE)
    named = set(re.findall(r'(\w+)="', said))
    assert named >= EVERYWHERE
    return named - OF_RUNS


async def test_a_worker_tells_prometheus_of_its_runs(
    client: Client, surefoot: Surefoot, server: RealServer, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "works", f"{SHELL}echo 1")
    write_tool(tmp_path / "tools", "fails", f"{SHELL}exit 3")
    (tmp_path / "script.yaml").write_text(SCRIPT)
    queue, port, model = new_queue(), free_port(), f"scripted:{tmp_path / 'script.yaml'}"
    place = ("--address", server.address, "--queue", queue, "--tools", tmp_path / "tools")
    address = {"SUREFOOT_METRICS_ADDRESS": f"127.0.0.1:{port}"}
    surefoot.start("worker", *place, environment=address).until_it_says('"event": "serving"')
    for _ in range(2):
        await (await start(client, queue, model=model)).result()

    page = scraped(port)

    shown = metrics("surefoot") | metrics("temporal")
    assert {name for name in shown if not re.search(rf"^{name}[_{{]", page, re.MULTILINE)} <= WHEN_IN_TROUBLE
    assert counted(page, "surefoot_tool_executions_total", "tool", "outcome") == {
        ("works", "success"): 2,
        ("fails", "TOOL_CRASHED"): 2,
        ("unknown", "TOOL_NOT_FOUND"): 4,
    }
    assert counted(page, "surefoot_runs_total", "status") == {("completed",): 2}
    assert counted(page, "surefoot_tokens_total", "direction", "model") == {
        ("input", "scripted:script.yaml"): 6000,
        ("output", "scripted:script.yaml"): 220,
    }
    cost = counted(page, "surefoot_cost_dollars_total", "model")
    assert cost == {("scripted:script.yaml",): pytest.approx(0.0213)}
    assert counted(page, "surefoot_turn_seconds_count") == {(): 4}
    waited = counted(page, "surefoot_queue_wait_seconds_count", "task_queue", "activity_type")
    assert waited == {
        (queue, "list_tools"): 2,
        (queue, "llm_turn"): 4,
        (queue, "works"): 2,
        (queue, "fails"): 2,
    }
    assert 'le="300"' in page
    assert {name: labels(page, name) for name in documented_metrics()} == documented_metrics()
    assert set(re.findall(r"^# TYPE (surefoot_\w+) ", page, re.MULTILINE)) == set(documented_metrics())
    refused = surefoot("worker", *place, environment=address)
    reason = "it cannot be used: Address already in use (os error 98)"
    assert (refused.exit_code, refused.stderr) == (
        2,
        f"surefoot: SUREFOOT_METRICS_ADDRESS is '127.0.0.1:{port}': {reason}\n",
    )
