import re
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import ROOT
from tests.console.printed_example import carry_out

pytestmark = pytest.mark.slow

SUB_AGENTS = (ROOT / "docs" / "sub-agents.md").read_text(encoding="utf-8")


def test_the_example_of_agents_that_call_agents_works_as_it_is_printed(
    tmp_path: Path, server: RealServer
) -> None:
    (example,) = re.findall(r"```sh\n(.*?)```", SUB_AGENTS, flags=re.DOTALL)
    (outcome,) = re.findall(r"```json\n(.*?)\n```", SUB_AGENTS, flags=re.DOTALL)

    shown = carry_out(example, directory=tmp_path, state=server.state_directory.parent)

    answered, child = shown.stdout.split("\n", 1)
    assert answered == f"[{outcome}, {outcome}]", shown.stderr
    assert "> Look at notes.txt." in child.splitlines()
    assert "    as run notes/1-2" in shown.stderr.splitlines()
