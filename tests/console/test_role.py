from pathlib import Path

import pytest

from console.errors import CommandError
from console.role import checked_role
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.console.tools_on_disk import write_tool
from workers.roles import Role

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
    place = ("--address", server.address, "--queue", f"queue-of-{tmp_path.name}")
    for role in (("agent",), ("llm",), ("tools", "--tools", tmp_path / "tools")):
        surefoot.start("worker", *place, "--role", *role).until_it_says('"event": "serving"')

    ended = surefoot("run", "Go on.", *place, "--model", f"scripted:{tmp_path}/script.yaml", "-o", "jsonl")

    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "It got 1.")
