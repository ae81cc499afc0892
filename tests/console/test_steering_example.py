import re
from pathlib import Path

import pytest

from surefoot.limits import Limits
from tests.conftest import RealServer
from tests.console.command import ROOT
from tests.console.printed_example import carry_out

STEERING = (ROOT / "docs" / "steering.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_documented_run_is_steered_as_it_is_printed(tmp_path: Path, server: RealServer) -> None:
    (example,) = re.findall(r"```sh\n(.*?)```", STEERING, flags=re.DOTALL)
    printed, _ = re.findall(r"```text\n(.*?)```", STEERING, flags=re.DOTALL)

    shown = carry_out(example, directory=tmp_path, state=server.state_directory.parent)

    told = (tmp_path / "progress.txt").read_text().splitlines()
    assert (shown.exit_code, shown.stdout.splitlines()[-1]) == (0, "Done."), shown.stderr
    assert [line.split()[:2] for line in shown.stdout.splitlines()[:2]] == [
        ["ID", "STATUS"],
        ["slow", "paused"],
    ]
    assert [line for line in told if line in printed.splitlines()] == printed.splitlines()


def test_every_limit_that_can_be_raised_is_named() -> None:
    assert [name for name in Limits.model_fields if f"`{name}`" not in STEERING] == []
