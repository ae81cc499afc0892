"""Every place where people are shown a call's params or what became of it, and what is hidden there."""

import io
import logging
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog
from pydantic import JsonValue
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowHandle

from console.approval_text import approval_text, question_lines
from console.chat_text import ChatText
from console.live import LiveOutput
from console.markdown_output import MarkdownOutput
from console.masked_events import MaskedEvents
from console.masked_output import shown_to_people
from console.plain import PlainOutput
from console.shown_run import Output
from console.transcript_text import TranscriptText
from surefoot.events import (
    ApprovalGiven,
    ApprovalRequested,
    Event,
)
from surefoot.notice import notice_of
from surefoot.run import APPROVE_UPDATE, Approve
from tests.activities.tools.disk_tools import PYTHON, write_tool
from tests.console.runs import RUN, running, screen, snapshot, wrote
from tests.workers.real_workers import new_queue, worker_of
from tests.workers.telemetry.collector import Collector, collecting
from tests.workflows.agents import Replies, calls, events_of, says, start, until_event
from tests.workflows.operators import update
from workers.logging import configure_logging
from workers.telemetry.exporting import tracer_provider

KEY, PIN, INNER, LOOKS_SECRET = "canary-key", 4711471147, "canary-inner", "canaryhunter2"
EDITED = 8822882288
CANARIES = (KEY, str(PIN), INNER, LOOKS_SECRET, str(EDITED))

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "key": {"type": "string", "format": "password", "maxLength": 20},
        "pin": {"type": "integer"},
        "options": {"type": "object"},
        "to": {"type": "string"},
    },
}
TOOL = PYTHON + (
    "import json, sys\n"
    "given = json.loads(sys.argv[1])\n"
    "print('with', given, file=sys.stderr)\n"
    "print(json.dumps({'said': 'used ' + str(given), 'pin': given.get('pin')}))\n"
    "sys.exit(3 if given['to'] == 'nowhere' else 0)\n"
)
HIDDEN: dict[str, JsonValue] = {"key": KEY, "pin": PIN, "options": {"inner": INNER, "open": "seen"}}
LOOKS: dict[str, JsonValue] = {"options": {"text": f"db password={LOOKS_SECRET} here"}, "to": "staging"}
ASKED = calls(
    ("deploy", {**HIDDEN, "to": "production"}),
    ("deploy", {**HIDDEN, "to": "nowhere"}),
    ("deploy", {"key": f"{KEY} that is too long for it", "to": "staging"}),
    ("deploy", LOOKS),
)
METADATA_QUERY = "__temporal_workflow_metadata"


@pytest.fixture
def log() -> Generator[io.StringIO]:
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    stream = io.StringIO()
    configure_logging(logging.INFO, stream=stream)
    yield stream
    logger.handlers[:], logger.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Generator[Collector]:
    with collecting() as collector:
        for name, value in {**collector.environment, "SUREFOOT_TRACE_CONTENT": "1"}.items():
            monkeypatch.setenv(name, value)
        tracer_provider.cache_clear()
        yield collector
        tracer_provider().shutdown()
        tracer_provider.cache_clear()


def printed(events: Sequence[Event], output: Callable[[io.StringIO], Output], *, reveal: bool = False) -> str:
    stream = io.StringIO()
    shown = shown_to_people(output(stream), reveal=reveal)
    shown.begin(**RUN)
    for event in events:
        shown.show(event)
    shown.end()
    return stream.getvalue()


def drawn(events: Sequence[Event]) -> str:
    terminal = screen(width=400)
    printed(events, lambda _: LiveOutput(terminal, answer=None))
    assert isinstance(terminal.file, io.StringIO)
    return terminal.file.getvalue()


def chatted(stream: io.StringIO) -> Output:
    return ChatText(stream, stream, own=lambda _: False)


async def details(run: WorkflowHandle[Any, Any]) -> str:
    return (await run.query(METADATA_QUERY, result_type=WorkflowMetadata)).current_details


async def summaries(run: WorkflowHandle[Any, Any]) -> str:
    events = (await run.fetch_history()).events
    return "\n".join(event.user_metadata.summary.data.decode() for event in events)


async def test_no_place_shows_what_a_definition_hides_or_what_looks_like_a_secret(
    client: Client, tmp_path: Path, log: io.StringIO, traced: Collector
) -> None:
    when: JsonValue = {"when": {"properties": {"to": {"const": "production"}}}}
    more = {"inputSchema": SCHEMA, "redact": ["pin", "options.inner"], "approval": when}
    write_tool(tmp_path / "tools", "deploy", TOOL, mode=0o755, **more)
    queue = new_queue()
    async with worker_of(client, tmp_path, Replies([ASKED, says("Done.")]), queue=queue):
        run = await start(client, queue)
        await until_event(run, "approval_requested")
        (question,) = [one for one in await events_of(run) if isinstance(one, ApprovalRequested)]
        waiting = await details(run)
        decision = Approve(
            tool_exec_id=question.tool_exec_id,
            params_sha256=question.params_sha256,
            params={**HIDDEN, "pin": EDITED, "to": "edited"},
        )
        await update(run, APPROVE_UPDATE, decision)
        result = await run.result()
        events, ended = await events_of(run), await details(run)
        attributes = str((await run.describe()).raw_description.workflow_execution_info.search_attributes)
    masked = MaskedEvents()
    for event in events:
        masked.event(event)
        if event.type == "tool_execution_scheduled":
            break
    beat = running("1-2", "deploy", captured=wrote(f"with {KEY}, token={LOOKS_SECRET}"))
    notice = notice_of(question, number=1, workflow_id="w", run_id="r", agent=None)
    assert notice is not None

    places = {
        "summaries of activities": await summaries(run),
        "current details, while it waits": waiting,
        "current details": ended,
        "notice": notice.model_dump_json(),
        "plain lines": printed(events, lambda stream: PlainOutput(stream, answer=stream)),
        "terminal": drawn(events),
        "show": printed(events, TranscriptText),
        "show as markdown": printed(events, MarkdownOutput),
        "chat": printed(events, chatted),
        "question": "\n".join(question_lines(question)),
        "decision": approval_text(next(one for one in events if isinstance(one, ApprovalGiven))),
        "what runs now": str(masked.snapshot(snapshot(beat))),
        "traces": "\n".join(str(span.attributes) for span in traced.spans),
    }
    silent = {"log": log.getvalue(), "search attributes": attributes}

    everywhere = {**places, **silent}
    found = {place: [one for one in CANARIES if one in text] for place, text in everywhere.items()}
    assert (result.tool_executions, result.failed_tool_executions) == (4, 2)
    assert found == {place: [] for place in everywhere}
    assert [place for place, text in places.items() if "[redacted]" not in text] == []
    assert all(one in printed(events, MarkdownOutput, reveal=True) for one in CANARIES)
    assert all(one in "\n".join(question_lines(question, reveal=True)) for one in CANARIES[:3])


def test_a_question_shows_what_merely_looks_like_a_secret() -> None:
    question = ApprovalRequested.model_validate(
        {
            "time": "2026-01-05T09:30:00Z",
            "tool_exec_id": "1-1",
            "call_id": "c1",
            "tool": "bash",
            "params": {"command": "export password=$(curl evil.example)"},
            "params_sha256": "0",
            "why": "every call of the tool does",
        }
    )
    assert [*question_lines(question)][1] == '  "command": "export password=$(curl evil.example)"'
