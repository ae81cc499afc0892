import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError, WorkflowHistory
from temporalio.worker import Interceptor, Replayer, UnsandboxedWorkflowRunner, Worker

from activities.agents.agent_tool import AgentTool
from surefoot.testing.replay import read_history
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, found, write_tool
from tests.replay.history_file import name_of, recorded, scenario_of
from tests.workers.real_workers import WorkerProcess, new_queue, pid_in, worker_of, worker_opening
from tests.workers.telemetry.collector import Collector, Span, collecting
from tests.workers.telemetry.page import documented_spans
from tests.workflows.agents import Replies, calls, finish, never, says, start, tool
from workers.models import model_opener, provider_settings
from workers.runtime import shared_runtime
from workers.server_ports import free_port
from workers.settings import Settings, SettingsError
from workers.telemetry.exporting import tracer_provider
from workers.telemetry.interceptor import Tracing
from workers.telemetry.tracing import tracing
from workers.worker import build_worker
from workflows.agent import Agent
from workflows.converter import DATA_CONVERTER

pytestmark = pytest.mark.slow

SCRIPT = """
price: {input: 3, output: 15}
steps:
  - call: [works: {plan: hunter2}, fails: {}, made_up: {}]
    usage: {input_tokens: 1000, output_tokens: 100, cache_read_tokens: 400}
  - call: [waits: {}]
  - say: Done, hunter2.
"""

REFUSED = """
price: {input: 3, output: 15}
steps:
  - call: [fails: {}]
    usage: {input_tokens: 10}
  - fail: {refused: The key was revoked.}
"""

OFTEN_REPLAYED = {
    f"current/{name}"
    for name in (
        "ten-calls-side-by-side",
        "continues-as-new-2",
        "conversation-is-made-smaller",
        "run-with-a-sub-agent-cancelled",
    )
}


@pytest.fixture
def collector() -> Generator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture
def traced(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Generator[Collector]:
    """Where the workers of this process send their spans."""
    for name, value in collector.environment.items():
        monkeypatch.setenv(name, value)
    tracer_provider.cache_clear()
    yield collector
    tracer_provider().shutdown()
    tracer_provider.cache_clear()


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A script, with the tools that it calls."""
    write_tool(tmp_path / "tools", "works", f"{SHELL}echo 1")
    write_tool(tmp_path / "tools", "fails", f"{SHELL}exit 3")
    waiting = f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1"
    write_tool(tmp_path / "tools", "waits", waiting, heartbeatSeconds=1)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    return f"scripted:{tmp_path / 'script.yaml'}"


async def until_sent(collector: Collector, name: str) -> Span:
    async with asyncio.timeout(20):
        while not (found := collector.named(name)):  # noqa: ASYNC110  another process
            await asyncio.sleep(0.02)
    return found[0]


@pytest.mark.long
async def test_a_run_is_one_trace_over_a_killed_worker_and_a_chain_of_runs(
    client: Client, tmp_path: Path, collector: Collector, model: str
) -> None:
    queue, variables = new_queue(), {**collector.environment, "SUREFOOT_HEARTBEAT_THROTTLE": "0.2"}

    with WorkerProcess(client, tmp_path, queue=queue, variables=variables) as first:
        run = await start(client, queue, model=model, chain={"max_events": 12})
        await pid_in(tmp_path / "pid")
        await until_sent(collector, "turn 1")
        first.kill()
    with WorkerProcess(client, tmp_path, queue=queue, variables=variables):
        await run.result()
        whole = await until_sent(collector, "invoke_agent surefoot")

    chat = "chat scripted:script.yaml"
    assert collector.tree() == {
        ("invoke_agent surefoot", ""): 1,
        ("list_tools", "invoke_agent surefoot"): 1,
        ("turn 1", "invoke_agent surefoot"): 1,
        (chat, "turn 1"): 1,
        ("execute_tool works", "turn 1"): 1,
        ("run_tool works", "execute_tool works"): 1,
        ("execute_tool fails", "turn 1"): 1,
        ("run_tool fails", "execute_tool fails"): 1,
        ("execute_tool made_up", "turn 1"): 1,
        ("turn 2", "invoke_agent surefoot"): 1,
        (chat, "turn 2"): 1,
        # Its worker was killed, and what runs there is no span before it ends.
        ("execute_tool waits", "turn 2"): 1,
        ("turn 3", "invoke_agent surefoot"): 1,
        (chat, "turn 3"): 1,
    }
    assert whole.attributes["surefoot.run_id"] != run.first_execution_run_id
    assert {span.trace for span in collector.spans} == {whole.trace}
    assert {span.name: span.failed for span in collector.spans if span.failed} == {
        "execute_tool fails": "TOOL_CRASHED",
        "run_tool fails": "TOOL_CRASHED",
        "execute_tool made_up": "TOOL_NOT_FOUND",
        "execute_tool waits": "TOOL_LOST",
    }
    assert all(whole.start <= span.start <= span.end <= whole.end + 10**9 for span in collector.spans)
    assert {span.service for span in collector.spans} == {"surefoot"}
    assert "hunter2" not in str(collector.spans)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(True, False, id="begun with traces, gone on with without"),
        pytest.param(False, True, id="begun without traces, gone on with with"),
        pytest.param(True, True, id="with traces all the time"),
    ],
)
async def test_a_run_goes_on_with_and_without_traces(
    client: Client,
    tmp_path: Path,
    traced: Collector,
    monkeypatch: pytest.MonkeyPatch,
    first: bool,
    second: bool,
) -> None:
    write_tool(tmp_path / "tools", "y", f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1")
    queue = new_queue()
    said = Replies([calls(("y", {})), calls(("y", {})), says("Done.")])

    def worker(*, with_traces: bool) -> Worker:
        endpoint = traced.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] if with_traces else ""
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        return worker_of(client, tmp_path, said, queue=queue)

    async with asyncio.timeout(30):
        async with worker(with_traces=first) as leaving:
            run = await start(client, queue, chain={"max_events": 14})
            await pid_in(tmp_path / "pid")
            left = asyncio.create_task(leaving.shutdown())
            (tmp_path / "go").touch()
            await left
        async with worker(with_traces=second):
            finished = await finish(run)

    assert (finished.result.status, finished.result.failed_tool_executions) == ("completed", 0)
    whole = traced.named("invoke_agent surefoot")
    assert [span.attributes["surefoot.status"] for span in whole] == ["completed"] * second
    assert len({span.trace for span in traced.spans}) == 1
    chats = {(True, False): 1, (False, True): 2, (True, True): 3}
    assert len(traced.named("chat replies")) == chats[first, second]


async def test_what_was_said_is_traced_if_that_is_asked_for(
    client: Client, tmp_path: Path, traced: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_TRACE_CONTENT", "1")
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo 1")
    model, queue = Replies([calls(("x", {"a": 1})), says("Done.")]), new_queue()

    async with worker_of(client, tmp_path, model, queue=queue):
        await (await start(client, queue, prompt="Do it well.")).result()

    first, second = traced.named("chat replies")
    (execution,), (whole,) = traced.named("execute_tool x"), traced.named("invoke_agent surefoot")
    told = json.loads(str(second.attributes["gen_ai.input.messages"]))
    assert json.loads(str(first.attributes["gen_ai.input.messages"]))[1] == {
        "role": "user",
        "parts": [{"type": "text", "content": "Do it well."}],
    }
    assert json.loads(str(first.attributes["gen_ai.output.messages"])) == [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "x", "arguments": {"a": 1}}],
        }
    ]
    assert told[-1]["parts"][0]["response"] == {"tool": "x", "tool_success": True, "result": 1}
    assert execution.attributes["gen_ai.tool.call.arguments"] == '{"a": 1}'
    assert (
        json.loads(str(execution.attributes["gen_ai.tool.call.result"])) == told[-1]["parts"][0]["response"]
    )
    assert (whole.attributes["surefoot.prompt"], whole.attributes["surefoot.answer"]) == (
        "Do it well.",
        "Done.",
    )


async def test_every_span_and_attribute_is_documented(
    client: Client, tmp_path: Path, traced: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_TRACE_CONTENT", "1")
    write_tool(tmp_path / "tools", "fails", f"{SHELL}exit 3")
    (tmp_path / "script.yaml").write_text(REFUSED)
    queue, scripts = new_queue(), model_opener(provider_settings({}))

    async with worker_opening(client, tmp_path, scripts, queue=queue):
        run = await start(client, queue, model=f"scripted:{tmp_path}/script.yaml", agent_name="reviewer")
        with pytest.raises(WorkflowFailureError):
            await run.result()

    sent: dict[str, set[str]] = {}
    for span in traced.spans:
        sent.setdefault(span.name.split()[0], set()).update(span.attributes)
    # The one that listed the tools worked.
    sent["list_tools"].add("error.type")
    assert sent == documented_spans()


async def test_an_agent_that_is_called_belongs_to_the_trace_of_its_caller(
    client: Client, tmp_path: Path, traced: Collector
) -> None:
    definition = tool("reviewer", never, agent={"key": "reviewer"}).definition
    ask: tuple[str, JsonValue] = ("reviewer", {"prompt": "Look at it."})
    (tmp_path / "tools").mkdir()
    model = Replies([calls(ask), says("Done.")])
    worker = build_worker(
        client,
        queue=new_queue(),
        tools={**found(tmp_path / "tools"), "reviewer": AgentTool(definition, "reviewer.md")},
        directory=tmp_path,
        environment={},
        open_model=lambda _turn, _attempt: model,
        settings=Settings(state_directory=tmp_path),
    )

    async with worker:
        await finish(await start(client, worker.task_queue))

    tree = traced.tree()
    assert tree["invoke_agent reviewer", "execute_tool reviewer"] == 1
    assert [span.failed for span in traced.named("invoke_agent reviewer")] == ["RUN_FAILED"]
    assert len({span.trace for span in traced.spans}) == 1


@pytest.mark.long
async def test_a_collector_that_is_away_holds_nothing_up(
    client: Client, tmp_path: Path, traced: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    (tmp_path / "tools").mkdir()
    queue = new_queue()

    async with asyncio.timeout(8), worker_of(client, tmp_path, Replies([says("Done.")]), queue=queue):
        assert (await (await start(client, queue)).result()).answer == "Done."


async def test_no_trace_is_begun_that_the_sampler_does_not_want(
    client: Client, tmp_path: Path, traced: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")
    (tmp_path / "tools").mkdir()
    queue = new_queue()

    async with worker_of(client, tmp_path, Replies([says("Done.")]), queue=queue):
        await (await start(client, queue)).result()

    assert traced.spans == []


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(
            file, id=name_of(file), marks=[pytest.mark.long] if name_of(file) not in OFTEN_REPLAYED else []
        )
        for file in recorded()
        if scenario_of(file) != "bug"
    ],
)
async def test_a_run_without_traces_replays_with_them_and_makes_no_span(file: Path) -> None:
    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))

    problem = await problem_of_replaying(read_history(file), Tracing(provider, content=True))

    assert (problem, exported.get_finished_spans()) == (None, ())


async def problem_of_replaying(history: WorkflowHistory, interceptor: Interceptor) -> Exception | None:
    replayer = Replayer(
        workflows=[Agent],
        workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=DATA_CONVERTER,
        interceptors=[interceptor],
        runtime=shared_runtime(),
    )
    return (await replayer.replay_workflow(history, raise_on_replay_failure=False)).replay_failure


def test_nothing_of_it_is_imported_where_no_collector_is_named() -> None:
    program = (
        "import sys; from workers.worker import build_worker; from workers.telemetry.tracing import tracing;"
        "from workers.settings import Settings; assert tracing(Settings()) == ();"
        "print([name for name in sys.modules if name.startswith('opentelemetry.')])"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)

    assert printed.stdout == b"[]\n"


@pytest.mark.parametrize(
    ("variable", "value", "missing", "sentence"),
    [
        pytest.param(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://127.0.0.1:4318",
            "opentelemetry.sdk.trace",
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and opentelemetry.sdk.trace is not installed: "
            "install surefoot[telemetry], or unset it",
            id="the extra is not installed",
        ),
        pytest.param(
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            None,
            "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc': it must be http/protobuf, for a port such as 4318",
            id="another protocol",
        ),
    ],
)
def test_a_worker_that_cannot_trace_says_why(
    traced: Collector,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    missing: str | None,
    sentence: str,
) -> None:
    monkeypatch.setenv(variable, value)
    if missing:
        for module in ("exporting", "interceptor", "run_spans", "activity_spans"):
            monkeypatch.delitem(sys.modules, f"workers.telemetry.{module}")
        monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(SettingsError) as caught:
        tracing(Settings())

    assert str(caught.value) == sentence
