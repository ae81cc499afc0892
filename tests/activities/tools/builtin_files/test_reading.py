import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools.builtin_files.contents import lines_of
from tests.activities.tools.builtin_files.file_calls import ask, refused


@pytest.mark.parametrize(
    ("content", "params", "shown", "lines"),
    [
        pytest.param(b"a\nb\n", {}, "     1\ta\n     2\tb", (1, 2, 2, False), id="all of it"),
        pytest.param(b"a\nb", {}, "     1\ta\n     2\tb", (1, 2, 2, False), id="no ending of the last line"),
        pytest.param(b"", {}, "", (None, None, 0, False), id="an empty file"),
        pytest.param(b"\n", {}, "     1\t", (1, 1, 1, False), id="an empty line"),
        pytest.param(b"a\nb\nc\n", {"offset": 2, "limit": 1}, "     2\tb", (2, 2, 3, True), id="a part"),
        pytest.param(b"a\nb\n", {"offset": 2.0}, "     2\tb", (2, 2, 2, False), id="a number with a point"),
        pytest.param(b"a\r\nb\rc\r\n", {}, "     1\ta\n     2\tb\rc", (1, 2, 2, False), id="other endings"),
        pytest.param(
            "a\u2028b\x0cc\n".encode(), {}, "     1\ta\u2028b\x0cc", (1, 1, 1, False), id="no endings"
        ),
        pytest.param(b"\xef\xbb\xbfa\n", {}, "     1\ta", (1, 1, 1, False), id="a byte order mark"),
    ],
)
def test_a_file_is_shown_line_by_line(
    here: Path, content: bytes, params: dict[str, object], shown: str, lines: tuple[object, ...]
) -> None:
    (here / "file").write_bytes(content)

    answered = ask("read_file", path="file", **params)

    numbers = tuple(answered[field] for field in ("first_line", "last_line", "total_lines", "truncated"))
    assert (answered["content"], numbers) == (shown, lines)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from(["", "a", "€" * 1_999, "x" * 5_000, '"' * 2_000]), max_size=120),
    limit=st.integers(2, 200),
)
def test_page_by_page_every_line_is_shown_once_and_no_page_is_too_large(
    here: Path, lines: list[str], limit: int
) -> None:
    (here / "file").write_text("".join(f"{line}\n" for line in lines))
    seen: list[str] = []
    while True:
        page = ask("read_file", path="file", offset=len(seen) + 1, limit=limit)
        assert len(repr(page)) < 100_000
        seen += lines_of(page["content"] + "\n") if page["first_line"] else []
        if not page["truncated"]:
            break

    shown = [line if len(line) <= 2_000 else f"{line[:2_000]}… [3,000 more characters]" for line in lines]
    assert seen == [f"{number:>6}\t{line}" for number, line in enumerate(shown, 1)]


def test_a_line_of_any_length_is_read_piece_by_piece(here: Path) -> None:
    line = "".join(f"{number:>5}\x01" for number in range(5_000))
    (here / "file").write_text(f"first\n{line}\n")
    seen = ""
    while not seen.endswith(" 4999\x01"):
        page = ask("read_file", path="file", offset=2, limit=1, column=len(seen) + 1)
        seen += re.sub(r"… \[[\d,]+ more characters\]$", "", page["content"].removeprefix("     2\t"))

    assert seen == line


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param(b"\x89PNG\r\n\0\0", "'file' is a binary file of 8 bytes", id="binary"),
        pytest.param("é\n".encode("latin-1"), "no UTF-8 text: the byte 0xe9 in line 1 is none", id="Latin-1"),
        pytest.param("a\n".encode("utf-16"), "is UTF-16 text of 6 bytes; only UTF-8 is read", id="UTF-16"),
        pytest.param(b"a\nb\n", "'file' has 2 lines, and line 4 was asked for", id="a line too far"),
        pytest.param(b"x" * (32 * 1024 * 1024 + 1), "is too large: 33,554,433 bytes, and the limit is 32 MB"),
    ],
)
def test_what_cannot_be_shown_is_named(here: Path, content: bytes, error: str) -> None:
    (here / "file").write_bytes(content)
    code, said = refused("read_file", path="file", offset=4)
    assert (code, error in said) == ("invalid_input", True), said


@pytest.mark.parametrize(
    ("path", "is_shown"),
    [
        pytest.param("{store}/artifacts/run/1-1-5b9d1c.json", True, id="an artifact"),
        pytest.param("{store}/conversations/run.json", False, id="something else that is stored"),
        pytest.param("{store}/artifacts/../conversations/run.json", False, id="upwards from the artifacts"),
        pytest.param("{store}/artifacts/run/link", False, id="a link out of the artifacts"),
        pytest.param("{store}/artifacts", False, id="all artifacts"),
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "search"])
def test_artifacts_are_read_and_nothing_else_outside(
    here: Path, monkeypatch: pytest.MonkeyPatch, tool: str, path: str, is_shown: bool
) -> None:
    store = here.parent / "store"
    for file in ("artifacts/run/1-1-5b9d1c.json", "conversations/run.json"):
        (store / file).parent.mkdir(parents=True)
        (store / file).write_text("kept\n")
    (store / "artifacts" / "run" / "link").symlink_to("../../conversations/run.json")
    monkeypatch.setenv("SUREFOOT_STORE", str(store))

    params = {"pattern": "kept"} if tool == "search" else {}
    answered = ask(tool, path=path.format(store=store), **params)

    assert (answered["success"], "kept" in str(answered)) == (is_shown, is_shown), answered


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        pytest.param("write_file", {"content": "x"}, id="written"),
        pytest.param("edit_file", {"old_string": "kept", "new_string": "x"}, id="edited"),
    ],
)
def test_no_artifact_is_changed(
    here: Path, monkeypatch: pytest.MonkeyPatch, tool: str, params: dict[str, object]
) -> None:
    artifact = here.parent / "store" / "artifacts" / "one.json"
    artifact.parent.mkdir(parents=True)
    artifact.write_text("kept\n")
    monkeypatch.setenv("SUREFOOT_STORE", str(here.parent / "store"))

    code, _ = refused(tool, path=str(artifact), **params)

    assert (code, artifact.read_text()) == ("invalid_input", "kept\n")
