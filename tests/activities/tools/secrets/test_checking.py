from pathlib import Path

from activities.tools.discovery import discover_tools
from tests.activities.tools.disk_tools import SHELL, write_tool


def test_tools_whose_secrets_are_not_there_are_warned_of(tmp_path: Path) -> None:
    write_tool(
        tmp_path / "tools",
        "x",
        SHELL,
        secrets=["KEY", "GONE"],
        environment={"A": "secret://KEY", "B": "p secret://AWAY"},
    )
    write_tool(tmp_path / "tools", "z", SHELL, secrets=["ELSEWHERE"], executorQueue="gpu")
    (tmp_path / "tools" / "z").unlink()
    found = discover_tools([tmp_path / "tools"], environment={"SUREFOOT_SECRET_KEY": "long-enough"})
    manifest = tmp_path / "tools" / "x.tool.json"
    away = "is not there: neither SUREFOOT_SECRET_{0} nor a file of SUREFOOT_SECRETS"
    assert [(str(one), one.warning) for one in found.problems] == [
        (f"{manifest}: secrets: the secret 'GONE' {away.format('GONE')}", True),
        (f"{manifest}: environment.B: the secret 'AWAY' {away.format('AWAY')}", True),
    ]


def test_a_secret_that_cannot_be_hidden_keeps_a_worker_from_starting(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL)
    found = discover_tools([tmp_path / "tools"], environment={"SUREFOOT_SECRET_KEY": "short"})
    reason = "is a secret of fewer than 6 characters, too short to be hidden"
    assert [str(error) for error in found.obstacles] == [f"SUREFOOT_SECRET_KEY: {reason}"]


def test_what_a_server_printed_as_it_failed_is_shown_without_secrets(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"s": {"command": "sh", "args": ["-c", "echo $K >&2; exit 3"],'
        ' "env": {"K": "secret://KEY"}}}}'
    )
    found = discover_tools(
        [str(tmp_path / "mcp.json")],
        environment={"SUREFOOT_SECRET_KEY": "canary-7f3", "PATH": "/usr/bin:/bin"},
    )
    (problem,) = found.problems
    assert ("[secret KEY]" in str(problem), "canary" in str(problem)) == (True, False)
