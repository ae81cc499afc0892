import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import get_args

import pytest

from activities.tools.builtin_files.refusal import RefusalCode
from activities.tools.disk_tool import DiskTool
from activities.tools.executable import Exited
from activities.tools.sources import BUILTINS
from surefoot.tool_error import FunctionErrorCode
from tests.activities.tools.builtin_files.file_calls import DIRECTORY, MANIFESTS
from tests.activities.tools.disk_tools import found
from tests.activities.tools.tool_run import ToolRun


def test_the_source_offers_five_tools_without_a_flaw() -> None:
    assert sorted(found(BUILTINS["builtin:files"])) == sorted(MANIFESTS)


@pytest.mark.parametrize("source", BUILTINS)
def test_what_comes_with_surefoot_can_be_started_where_it_is_installed(source: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[4]
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(built, cwd=root, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        modes = {root / file.filename: file.external_attr >> 16 for file in files.infolist()}

    executables = [tool.executable for tool in found(BUILTINS[source]).values() if isinstance(tool, DiskTool)]

    assert [modes[file] & 0o111 for file in executables if file is not None] == [0o111] * len(executables)


def test_only_tools_that_change_something_say_so() -> None:
    hints = {
        name: (hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint, hint.open_world_hint)
        for name, hint in ((name, manifest.annotations) for name, manifest in MANIFESTS.items())
    }
    looking = (True, False, True, False)
    assert hints == {
        "read_file": looking,
        "list_dir": looking,
        "search": looking,
        "write_file": (False, True, True, False),
        "edit_file": (False, True, False, False),
    }


def test_their_codes_are_those_of_function_tools() -> None:
    assert set(get_args(RefusalCode)) <= set(get_args(FunctionErrorCode))


@pytest.mark.parametrize(
    ("tool", "params", "fields"),
    [
        pytest.param("read_file", {"path": "é"}, {"content": "     1\tü"}, id="read_file"),
        pytest.param(
            "write_file", {"path": "n", "content": "ü" * 60_000}, {"bytes": 120_000}, id="write_file"
        ),
        pytest.param(
            "edit_file",
            {"path": "é", "old_string": "ü", "new_string": "ö"},
            {"replacements": 1},
            id="edit_file",
        ),
        pytest.param("list_dir", {}, {"total": 1}, id="list_dir"),
        pytest.param("search", {"pattern": "Ü", "case": "insensitive"}, {"truncated": False}, id="search"),
    ],
)
@pytest.mark.parametrize("locale", ["LC_ALL=C.UTF-8", "LANG=en_US.ISO-8859-1"])
async def test_the_executables_work_in_every_locale(
    tmp_path: Path, tool: str, params: dict[str, object], fields: dict[str, object], locale: str
) -> None:
    run = ToolRun(tmp_path)
    run.environment |= dict([locale.split("=", 1)])
    (tmp_path / "é").write_text("ü\n")

    ending = await run(DIRECTORY / tool, json.dumps(params, ensure_ascii=False))

    answered = json.loads(run.captures.stdout.whole() or b"")
    assert (ending, run.stderr, answered["success"]) == (Exited(0), "", True)
    assert {field: answered[field] for field in fields} == fields
