import re
import shlex
from pathlib import Path

import pytest

from console.errors import CommandError
from console.role import checked_role
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.console.tools_on_disk import write_tool
from workers.roles import Role

SCALING = (Path(__file__).parents[2] / "docs/scaling.md").read_text(encoding="utf-8")
SCRIPT = "steps: [{call: [{echo: {n: 1}}]}, {say: 'It got {{last.result.got.n}}.'}]\n"


@pytest.mark.parametrize(
    ("role", "options", "problem"),
    [
        pytest.param("llm", {"tools": ["."]}, "--role llm runs no tools", id="tools for a worker of models"),
        pytest.param(
            "agent", {"agent": "a.md"}, "--role agent runs no tools", id="an agent's tools for runs"
        ),
        pytest.param(
            "tools", {"reducers": ["r.py"]}, "--role tools carries no runs", id="reducers for tools"
        ),
        pytest.param("llm", {"queue": "q" * 195}, "--queue is longer than 194 letters", id="a long queue"),
    ],
)
def test_a_role_refuses_what_it_has_no_use_for(
    role: Role, options: dict[str, list[str]], problem: str
) -> None:
    given = {"queue": "q", "agent": None, "tools": None, "reducers": None, **options}
    with pytest.raises(CommandError, match=problem):
        checked_role(role, **given)  # pyright: ignore[reportArgumentType]  a table of several types


@pytest.mark.long
def test_three_kinds_of_workers_serve_a_run_together(
    surefoot: Surefoot, server: RealServer, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    write_tool(tmp_path / "tools", "echo")
    (tmp_path / "script.yaml").write_text(SCRIPT)
    queue, at = f"queue-of-{tmp_path.name}", ("--address", server.address)
    commands = re.findall(r"^surefoot (worker --role .*)$", SCALING, re.MULTILINE)
    for command in commands:
        options = shlex.split(command.replace("--queue agents", f"--queue {queue}"))
        surefoot.start(*options, *at).until_it_says('"event": "serving"')

    model = f"scripted:{tmp_path}/script.yaml"
    ended = surefoot("run", "Go on.", *at, "--queue", queue, "--model", model, "-o", "jsonl")

    assert len(commands) == 3
    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "It got 1.")
