import re
from pathlib import Path

import pytest

from tests.console.command import ROOT
from tests.console.printed_example import carry_out
from workers.server_ports import free_port

README = (ROOT / "examples" / "everything" / "README.md").read_text(encoding="utf-8")
(COMMAND,) = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)

ANSWER = r"""executable: 2 lines
function: \["a", "run"\]
MCP over stdio: \{"result": "goes on where it was, whatever died meanwhile"\}
MCP over HTTP: \{"result": "[0-9T:+-]+"\}
sub-agent: It is about runs, and about what their calls come to.
remote executor: 980e82effd8e42335556a07e482d8db52e0db865c490c2aa2cfae1a2d6011e71
"""


@pytest.mark.long
def test_one_run_uses_a_tool_of_every_kind(tmp_path: Path) -> None:
    ports = {name: str(free_port()) for name in ("PORT", "UI_PORT", "CLOCK_PORT")}

    ended = carry_out(COMMAND, directory=ROOT, state=tmp_path, **ports)

    assert ended.exit_code == 0, ended.stderr
    assert re.fullmatch(ANSWER, ended.stdout.rstrip("\n") + "\n"), ended.stdout
