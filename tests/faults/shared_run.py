"""Carries out all cases of the table in one run of the real command."""

import json
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.console.command import ROOT, Ended, Surefoot
from tests.faults.case import EFFECTS, Case, Program
from tests.faults.large_cases import BULK, BULK_CHARACTERS, WHOLE
from tests.faults.mcp_cases import mcp_servers
from tests.faults.observation import Observation, seconds_taken

CENSUS = "census"
"""The run's last tool: it looks for survivors while the worker, which would take them along, still lives."""

PREPARE = "prepare"
"""The run's first tool: no executable may do what it does to the others."""

PATIENCE_SECONDS = 150


def write_tools(directory: Path, cases: Iterable[Case], *, queue: str) -> None:
    """Write executables and manifests; QUEUE in a manifest becomes `queue`."""
    directory.mkdir(exist_ok=True)
    for case in cases:
        if case.program is not None:
            write_program(directory / case.tool, case.program)
        if case.function is not None:
            (directory / f"{case.tool}.py").write_text(case.function.replace("NAME", case.tool))
        if case.manifest is not None:
            manifest = {
                "name": case.tool,
                "description": f"A tool that {case.name}.",
                "inputSchema": {"type": "object"},
                **case.manifest,
            }
            text = json.dumps(manifest).replace("QUEUE", queue)
            (directory / f"{case.tool}.tool.json").write_text(text)


def carry_out(groups: Sequence[Sequence[Case]], surefoot: Surefoot) -> dict[str, Observation]:
    """Make all calls, one group a turn, and give what was seen of each case by its name."""
    cases = [case for group in groups for case in group]
    workflow_id = f"faults-{secrets.token_hex(4)}"
    tools, queue = surefoot.directory / "tools", f"{workflow_id}-nobody"
    write_tools(tools, cases, queue=queue)
    (tools / "helpers.py").write_text(helpers(workflow_id))
    manifest = {"name": BULK, "description": "Helps.", "inputSchema": {"type": "object"}, "limits": WHOLE}
    write_program(tools / BULK, _bulk())
    (tools / f"{BULK}.tool.json").write_text(json.dumps(manifest))
    (surefoot.directory / "script.yaml").write_text(json.dumps(_script(groups)))

    with mcp_servers(surefoot.directory) as servers:
        ended = surefoot.start(
            *("run", "Try everything.", "--model", "scripted:script.yaml", "-o", "jsonl"),
            *("--tools", "builtin", "--tools", "builtin:files", "--tools", tools, "--tools", servers),
            *("--workflow-id", workflow_id, "--approve", "*=never"),
        ).ends(seconds=PATIENCE_SECONDS)

    assert (ended.exit_code, ended.event("run_finished")["status"]) == (0, "completed"), ended.stderr
    ended = replace(ended, stdout=ended.stdout.replace(str(tools), "DIR").replace(queue, "QUEUE"))
    (taken,) = [event for event in ended.events if event.get("tool") == CENSUS and "outcome" in event]
    left: dict[str, list[str]] = taken["outcome"]["result"]["found"]
    return observed(groups, ended, surefoot.directory / EFFECTS, workflow_id, left, first_turn=2)


def _script(groups: Sequence[Sequence[Case]]) -> dict[str, object]:
    """After each group the model says what it was told; that is how it is known here."""
    beforehand = [case.beforehand for group in groups for case in group if case.beforehand]
    steps: list[dict[str, object]] = [
        {"call": [{PREPARE: {"command": "; ".join(beforehand)}}, {BULK: {}, "as": BULK}]},
        *({"say": "{{outcomes}}", "call": [{case.tool: case.params} for case in group]} for group in groups),
        {"say": "{{outcomes}}", "call": [{CENSUS: {}}]},
        {"say": "Done."},
    ]
    return {"steps": steps}


def helpers(workflow_id: str) -> str:
    """Give functions for a run's own worker, outside of every sandbox: PREPARE, and the census of the run."""
    return f"""
import subprocess, sys
from pathlib import Path
from typing import TypedDict
from surefoot import current_call, tool
sys.path.insert(0, {str(ROOT)!r})
from tests.faults.survivors import survivors

class Found(TypedDict):
    found: dict[str, list[str]]

@tool
def {PREPARE}(command: str) -> str:
    \"\"\"Change the tools.\"\"\"
    done = subprocess.run(command, shell=True, cwd=current_call().directory / "tools", capture_output=True)
    return (done.stdout + done.stderr).decode()

@tool
def {CENSUS}() -> Found:
    \"\"\"Look for survivors.\"\"\"
    found = survivors({workflow_id!r})
    found.pop(current_call().id.rpartition("/")[2], None)
    return Found(found=found)
"""


def _bulk() -> Program:
    return Program(f"#!{sys.executable} -IS\nprint('\"' + 'x' * {BULK_CHARACTERS} + '\"')\n".encode())


def observed(
    groups: Sequence[Sequence[Case]],
    ended: Ended,
    effects: Path,
    workflow_id: str,
    survivors: Mapping[str, Sequence[str]],
    *,
    first_turn: int,
) -> dict[str, Observation]:
    """Give what was seen of each case in a run whose turns from `first_turn` on made the groups' calls."""
    events = ended.events
    outcomes = {event["tool_exec_id"]: event["outcome"] for event in events if "outcome" in event}
    told = {event["turn"] - 1: event["text"] for event in events if event["type"] == "model_replied"}
    lines = effects.read_text().splitlines()
    seen: dict[str, Observation] = {}
    for turn, group in enumerate(groups, first_turn):
        views: list[dict[str, Any]] = json.loads(told[turn])
        for number, (case, view) in enumerate(zip(group, views, strict=True), 1):
            tool_exec_id = f"{turn}-{number}"
            seen[case.name] = Observation(
                outcome=outcomes[tool_exec_id],
                told=view if view["tool_success"] else {key: view[key] for key in view if key != "tool"},
                side_effects=lines.count(f"{workflow_id}/{tool_exec_id}"),
                survivors=survivors.get(tool_exec_id, []),
                seconds=seconds_taken(events, tool_exec_id),
            )
    return seen


def write_program(path: Path, program: Program) -> None:
    """Write the file of a tool."""
    if program.content is None:
        path.mkdir()
    else:
        path.write_bytes(program.content)
        path.chmod(program.mode)
