import os
import re
import subprocess
import sysconfig
from pathlib import Path

from tests.conftest import RealServer
from tests.console.command import ROOT

SUB_AGENTS = (ROOT / "docs" / "sub-agents.md").read_text(encoding="utf-8")


def test_the_example_of_agents_that_call_agents_works_as_it_is_printed(
    tmp_path: Path, server: RealServer
) -> None:
    (example,) = re.findall(r"```sh\n(.*?)```", SUB_AGENTS, flags=re.DOTALL)
    (outcome,) = re.findall(r"```json\n(.*?)\n```", SUB_AGENTS, flags=re.DOTALL)
    environment = {
        **os.environ,
        "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(server.state_directory.parent),
    }

    shown = subprocess.run(
        ["sh", "-ec", example],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    answered, child = shown.stdout.split("\n", 1)
    assert answered == f"[{outcome}, {outcome}]", shown.stderr
    assert "> Look at notes.txt." in child.splitlines()
    assert "    as run notes/1-2" in shown.stderr.splitlines()
