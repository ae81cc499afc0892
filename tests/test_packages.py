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
    for module in sys.argv[2:]:
        importlib.import_module(module)
    json.dump([effects, threading.active_count(), sorted(sys.modules)], told)
"""


@dataclass(frozen=True)
class Imported:
    """What importing did in a process of its own."""

    effects: list[str]
    threads: int
    printed: str
    loaded: frozenset[str]


def modules_of(*packages: str) -> list[str]:
    files = [file for package in packages for file in sorted((ROOT / package).rglob("*.py"))]
    named = [file.relative_to(ROOT).with_suffix("") for file in files]
    return [".".join(name.parts).removesuffix(".__init__") for name in named]


def is_of_the_test_kit(module: str) -> bool:
    return module.startswith("surefoot.testing")


def import_all(modules: list[str], directory: Path) -> Imported:
    told = directory / "told.json"
    command = [sys.executable, "-B", "-c", IMPORTING, str(told), *modules]
    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60, check=True)
    effects, threads, loaded = json.loads(told.read_text())
    return Imported(effects, threads, ended.stdout + ended.stderr, frozenset(loaded))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_of_this_name_is_ours(package: str) -> None:
    imported = importlib.import_module(package)

    assert imported.__file__ == str(ROOT / package / "__init__.py")


def test_importing_every_module_does_nothing(tmp_path: Path) -> None:
    did = import_all(modules_of(*PACKAGES), tmp_path)

    assert (did.effects, did.threads, did.printed) == ([], 1, "")


def test_the_contract_loads_no_temporal_and_no_provider(tmp_path: Path) -> None:
    contract = [module for module in modules_of("surefoot") if not is_of_the_test_kit(module)]

    loaded = import_all(contract, tmp_path).loaded

    assert not {"temporalio", "pydantic_ai", "structlog", "yaml", "typer", "rich"} & loaded


def test_nothing_but_tests_loads_the_test_kit(tmp_path: Path) -> None:
    product = [module for module in modules_of(*PACKAGES) if not is_of_the_test_kit(module)]

    loaded = import_all(product, tmp_path).loaded

    assert [module for module in loaded if is_of_the_test_kit(module)] == []


def test_no_provider_is_loaded_before_its_model_is_asked_for(tmp_path: Path) -> None:
    ours = [module for module in modules_of(*PACKAGES) if not module.startswith("activities.providers.")]

    loaded = import_all(ours, tmp_path).loaded

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
    assert sorted(named) == ["conversation", "events"]
