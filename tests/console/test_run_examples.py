import pytest

from tests.console.command import ROOT, Surefoot

pytestmark = pytest.mark.slow

WORKDIR = ROOT / "examples/conversations/workdir"
FAILURES = ROOT / "examples/failures"


@pytest.mark.parametrize(
    ("script", "tools", "told"),
    [
        pytest.param(
            "list-files", "builtin", ["- src/db.c, 924 bytes", "2198 bytes of source"], id="a listing"
        ),
        pytest.param(
            "missing-file", "builtin", ["There is no config.json", "No such file"], id="a missing file"
        ),
        pytest.param("todo-count", "builtin", ["hold 4 TODO comments", "src/db.c, line 6"], id="two steps"),
        pytest.param(
            "truncation", "builtin", ["files are installed under /usr", "- /usr/lib: "], id="cut off"
        ),
        pytest.param(
            "timeout", FAILURES, ["'slow-tool' timed out after 2s", "  Processing item 1..."], id="a timeout"
        ),
        pytest.param(
            "crash",
            FAILURES,
            ["'buggy-tool' crashed with exit code 139", "  Segmentation fault"],
            id="a crash",
        ),
    ],
)
def test_each_conversation_ends_in_an_answer_that_tells_what_was_captured(
    surefoot: Surefoot, script: str, tools: object, told: list[str]
) -> None:
    model = f"scripted:{ROOT}/examples/conversations/{script}.yaml"

    ended = surefoot("run", "Go on.", "--model", model, "--tools", tools, "--workdir", WORKDIR)

    assert ended.exit_code == 0, ended.stderr
    assert [part for part in told if part not in ended.stdout] == []
