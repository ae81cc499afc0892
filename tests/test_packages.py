import asyncio
import importlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client

from tests.workflows.agents import Replies, answer, calls, says, serving, start, tool

ROOT = Path(__file__).parents[1]
PACKAGES = ["surefoot", "activities", "workflows", "workers", "console"]

# Runs in a process of its own, and tells what importing modules did there.
IMPORTING = """
import importlib, json, os, sys, threading

OUTWARD = {"os.mkdir", "os.putenv", "os.system", "socket.bind", "socket.connect", "subprocess.Popen"}
effects = []

def watch(event, arguments):
    wrote = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if wrote or event in OUTWARD:
        effects.append(f"{event} {arguments[0]}")

with open(sys.argv[1], "w") as told:
    sys.addaudithook(watch)
    loaded = []
    for modules in sys.argv[2:]:
        for module in modules.split():
            importlib.import_module(module)
        loaded.append(sorted(sys.modules))
    json.dump([effects, threading.active_count(), loaded], told)
"""


@dataclass(frozen=True)
class Imported:
    """What importing did in a process of its own."""

    effects: list[str]
    threads: int
    printed: str
    with_contract: frozenset[str]
    """What was loaded once the contract was."""
    with_product: frozenset[str]
    """What was loaded then by the product, but for `activities.providers`."""
    with_test_kit: frozenset[str]
    """What was loaded then by the kit for tests."""


def modules_of(*packages: str) -> list[str]:
    files = [file for package in packages for file in sorted((ROOT / package).rglob("*.py"))]
    named = [file.relative_to(ROOT).with_suffix("") for file in files]
    return [".".join(name.parts).removesuffix(".__init__") for name in named]


def is_of_the_test_kit(module: str) -> bool:
    return module.startswith("surefoot.testing")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Everything of ours, imported step by step in a process of its own, providers last."""
    directory = tmp_path_factory.mktemp("imported")
    told, ours = directory / "told.json", modules_of(*PACKAGES)
    kit = [module for module in ours if is_of_the_test_kit(module)]
    providers = [module for module in ours if module.startswith("activities.providers.")]
    product = [module for module in ours if module not in (*kit, *providers)]
    contract = [module for module in product if module.startswith("surefoot")]
    steps = [" ".join(modules) for modules in (contract, product, kit, providers)]
    command = [sys.executable, "-B", "-c", IMPORTING, str(told), *steps]
    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60, check=True)
    effects, threads, loaded = json.loads(told.read_text())
    return Imported(effects, threads, ended.stdout + ended.stderr, *map(frozenset, loaded[:3]))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_of_this_name_is_ours(package: str) -> None:
    imported = importlib.import_module(package)

    assert imported.__file__ == str(ROOT / package / "__init__.py")


def test_importing_every_module_does_nothing(imported: Imported) -> None:
    assert (imported.effects, imported.threads, imported.printed) == ([], 1, "")


def test_the_contract_loads_no_temporal_and_no_provider(imported: Imported) -> None:
    loaded = imported.with_contract

    assert not {"temporalio", "pydantic_ai", "structlog", "yaml", "typer", "rich"} & loaded


def test_nothing_but_tests_loads_the_test_kit(imported: Imported) -> None:
    assert [module for module in imported.with_product if is_of_the_test_kit(module)] == []


def test_no_provider_is_loaded_before_its_model_is_asked_for(imported: Imported) -> None:
    loaded = imported.with_test_kit

    assert "activities.providers.opening" in loaded
    assert not {"pydantic_ai", "openai", "anthropic"} & loaded


async def test_a_history_names_things_as_it_always_will(client: Client) -> None:
    model = Replies([calls(("x", {})), says("Done.")])
    async with asyncio.timeout(20), serving(client, model, [tool("x", answer)]) as queue:
        run = await start(client, queue)
        await run.result()
        events = [event async for event in run.fetch_history_events()]
        metadata = await run.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)

    scheduled = [event.activity_task_scheduled_event_attributes for event in events]
    ids = [(one.activity_type.name, one.activity_id) for one in scheduled if one.activity_id]
    assert events[0].workflow_execution_started_event_attributes.workflow_type.name == "surefoot"
    assert ids == [("list_tools", "list_tools"), ("llm_turn", "turn-1"), ("x", "1-1"), ("llm_turn", "turn-2")]
    definition = metadata.definition
    assert definition.type == "surefoot"
    named = [query.name for query in definition.query_definitions if not query.name.startswith("__")]
    assert sorted(named) == ["conversation", "events", "slices"]
    updates = [update.name for update in definition.update_definitions]
    assert sorted(updates) == [
        "approve",
        "cancel_tool_call",
        "deny",
        "end_session",
        "pause",
        "raise_limit",
        "resume",
        "send_message",
    ]
