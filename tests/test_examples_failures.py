import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from surefoot.definition import Manifest

FAILURES = Path(__file__).parents[1] / "examples/failures"

TOOLS = pytest.mark.parametrize("name", ["slow-tool", "buggy-tool", "broken-tool"])


def manifest(name: str) -> Manifest:
    return Manifest.model_validate_json((FAILURES / f"{name}.tool.json").read_text())


def run(name: str, *, workdir: Path, **params: object) -> tuple[int, str, str]:
    ended = subprocess.run(
        [FAILURES / name, json.dumps(params)],
        cwd=workdir,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return ended.returncode, ended.stdout, ended.stderr


@TOOLS
def test_a_tool_is_an_executable_beside_a_manifest_of_its_name(name: str) -> None:
    assert (manifest(name).name, os.access(FAILURES / name, os.X_OK)) == (name, True)


@TOOLS
def test_a_tool_has_a_parameter_that_can_be_given_wrongly(name: str) -> None:
    types = [schema.get("type") for schema in manifest(name).properties.values()]
    assert types
    assert None not in types


def test_the_slow_tool_says_at_once_what_it_works_on() -> None:
    with subprocess.Popen([FAILURES / "slow-tool", "{}"], stdout=subprocess.PIPE, text=True) as tool:
        assert tool.stdout is not None
        lines = [tool.stdout.readline() for _ in range(2)]
        still_runs = tool.poll() is None
        tool.kill()
    assert (lines, still_runs) == (["Processing item 1...\n", "Processing item 2...\n"], True)


def test_even_the_smallest_batch_takes_the_slow_tool_longer_than_its_timeout() -> None:
    smallest = manifest("slow-tool").properties["items"]["minimum"]
    [seconds] = [
        line for line in (FAILURES / "slow-tool").read_text().splitlines() if "SECONDS_PER_ITEM =" in line
    ]
    assert isinstance(smallest, int)
    assert manifest("slow-tool").timeout_seconds == 2
    assert smallest * float(seconds.split("=")[1]) > 2


def test_the_buggy_tool_dies_of_a_segmentation_fault_and_leaves_no_core(tmp_path: Path) -> None:
    died = run("buggy-tool", workdir=tmp_path, path="records.csv")
    assert died == (-signal.SIGSEGV, "", "Segmentation fault (core dumped)\n")
    assert list(tmp_path.iterdir()) == []


def test_the_broken_tool_ends_well_and_prints_what_is_not_json(tmp_path: Path) -> None:
    assert run("broken-tool", workdir=tmp_path, term="run") == (0, "not valid json{{{", "")
