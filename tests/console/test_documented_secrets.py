"""The example of docs/secrets.md, as it is printed."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.printed_example import carry_out

TEXT = (Path(__file__).parents[2] / "docs" / "secrets.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)[0]


@pytest.mark.slow
def test_a_tool_is_called_with_a_secret_that_nobody_reads(tmp_path: Path, server: RealServer) -> None:
    ended = carry_out(block("sh"), directory=tmp_path, state=server.state_directory.parent)

    checked, answer, refusal = ended.stdout.splitlines()
    assert (checked.startswith("ok: sign-in ("), json.loads(answer)) == (True, json.loads(block("json")))
    assert json.loads(refusal)["error_code"] == "INVALID_PARAMS"
    assert "ghp_" not in ended.stdout + ended.stderr
