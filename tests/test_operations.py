"""docs/operations.md: every query is asked of a real server, and every picture is there."""

import asyncio
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.client import Client, WorkflowHandle

from surefoot.attributes import Numbers
from surefoot.run import WORKFLOW
from workers.search_attributes import SEARCH_ATTRIBUTES
from workflows.attributes import attributes_of

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "operations.md").read_text(encoding="utf-8")

MAX_PICTURE_BYTES = 150_000

KINDS = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "Int": IndexedValueType.INDEXED_VALUE_TYPE_INT,
    "KeywordList": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
    "Double": IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
}

RUNS: Mapping[str, Numbers] = {
    "at-work": Numbers(status="running", turns=3),
    "dear": Numbers.model_validate({"agent": "release", "turns": 120, "cost": "7.5"}),
    "asks": Numbers(status="waiting"),
    "held": Numbers(status="paused", failures=1, last_error_code="TOOL_LOST", error_codes=("TOOL_LOST",)),
    "failing": Numbers(
        status="running",
        failures=4,
        last_error_code="TOOL_CRASHED",
        error_codes=("TOOL_TIMEOUT", "TOOL_CRASHED"),
    ),
    "broken": Numbers(status="failed", failures=2, last_error_code="TOOL_CRASHED"),
}
EVERY = frozenset(RUNS)

FOUND: Mapping[str, frozenset[str]] = {
    "waits for somebody": frozenset({"asks", "held"}),
    "at work": EVERY,
    "trouble at work": frozenset({"failing"}),
    "ended badly": frozenset({"broken"}),
    "expensive": frozenset({"dear"}),
    "one agent's": frozenset({"dear"}),
    "whole runs only, not those of called agents": EVERY,
    "a tool timed out": frozenset({"failing"}),
    "a tool timed out today": frozenset({"failing"}),
    "workers died": frozenset({"held"}),
    "long": frozenset({"dear"}),
    "old and still there": frozenset(),
}


def views() -> dict[str, str]:
    section = PAGE.split("\n## Find runs\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| ([^|]+) \| `([^`]+)` \|$", section, flags=re.MULTILINE))


async def found_among(client: Client, query: str, prefix: str) -> frozenset[str]:
    matching = client.list_workflows(f"({query}) AND WorkflowId STARTS_WITH '{prefix}'")
    return frozenset([run.id.removeprefix(prefix) async for run in matching])


async def test_every_view_finds_what_it_is_named_after(client: Client) -> None:
    prefix = f"view-{secrets.token_hex(4)}-"
    runs: list[WorkflowHandle[object, object]] = [
        await client.start_workflow(
            WORKFLOW, id=f"{prefix}{name}", task_queue=prefix, search_attributes=attributes_of(numbers)
        )
        for name, numbers in RUNS.items()
    ]
    async with asyncio.timeout(20):
        while await found_among(client, "WorkflowType = 'surefoot'", prefix) != EVERY:  # noqa: ASYNC110  the server's index lags
            await asyncio.sleep(0.05)

    found = {view: await found_among(client, query, prefix) for view, query in views().items()}
    for run in runs:
        await run.terminate()

    assert found == FOUND


def test_the_attributes_are_those_of_the_one_definition() -> None:
    table = re.findall(r"^\| `(Surefoot\w+)` \| (\w+) \|", PAGE, flags=re.MULTILINE)

    assert {name: KINDS[kind] for name, kind in table} == SEARCH_ATTRIBUTES


def test_the_commands_create_all_of_them() -> None:
    (commands,) = re.findall(r"```sh\n(for name in.*?)```", PAGE, flags=re.DOTALL)
    (keywords,) = re.findall(r"for name in (.*?);", commands)
    others = re.findall(r"--name (\w+) --type (\w+)", commands)

    created = {**dict.fromkeys(keywords.split(), "Keyword"), **dict(others)}
    assert {name: KINDS[kind] for name, kind in created.items()} == SEARCH_ATTRIBUTES


@pytest.mark.parametrize("picture", sorted(set(re.findall(r"\]\((images/[^)]+)\)", PAGE))))
def test_every_picture_is_there_and_small(picture: str) -> None:
    assert 10_000 < (DOCS / picture).stat().st_size < MAX_PICTURE_BYTES
