import threading
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from activities.tools.builtin_files.editing import edited
from activities.tools.builtin_files.refusal import RefusalError
from tests.activities.tools.builtin_files.file_calls import MANIFESTS, ask, refused

TEXTS = st.text(st.sampled_from("ab \n"), max_size=30)
OLD = st.text(st.sampled_from("ab\n"), min_size=1, max_size=4)


def outcome(before: str, old: str, new: str, *, every: bool) -> tuple[str, int] | str:
    """Give the text after an edit and how much was replaced, or the code of its refusal."""
    try:
        after, _, count = edited(before, old, new, replace_all=every)
    except RefusalError as error:
        return error.error_code
    return after, count


@given(before=TEXTS, old=OLD, new=TEXTS)
def test_a_text_that_is_there_once_is_replaced_and_nothing_else(before: str, old: str, new: str) -> None:
    assume(old != new)
    places = sum(before.startswith(old, at) for at in range(len(before)))
    replaced = before.replace(old, new)
    expected = {0: "not_found", 1: (replaced, 1)}.get(places, "invalid_input")
    assert outcome(before, old, new, every=False) == expected


@given(before=TEXTS, old=OLD, new=TEXTS)
def test_all_of_it_is_replaced_as_python_would(before: str, old: str, new: str) -> None:
    assume(old != new and old in before)
    after, _, count = edited(before, old, new, replace_all=True)
    assert (after, count) == (before.replace(old, new), before.count(old))


@given(before=TEXTS, old=OLD, new=TEXTS, every=st.booleans())
def test_a_file_with_other_line_endings_is_edited_alike_and_keeps_them(
    before: str, old: str, new: str, every: bool
) -> None:
    assume("\n" in before)
    plain = outcome(before, old, new, every=every)
    expected = plain if isinstance(plain, str) else (plain[0].replace("\n", "\r\n"), plain[1])
    assert outcome(before.replace("\n", "\r\n"), old, new, every=every) == expected


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a\r\nb\nc\n", "a\nb", "x\ny", b"x\r\ny\nc\n", id="mixed endings, as at the place"),
        pytest.param(b"a\r\nb\r\nc\n", "c", "c\nd", b"a\r\nb\r\nc\r\nd\n", id="mixed endings, as most"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n", id="endings that are given"),
        pytest.param(b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n", id="a byte order mark"),
        pytest.param(b"a\n", "a\n", "", b"", id="all of it"),
        pytest.param("é€😀\n".encode(), "€", "ü", "éü😀\n".encode(), id="letters outside ASCII"),
        pytest.param(b"a.b (c)\\1\n", "a.b (c)\\1", "$1\\g<0>", b"$1\\g<0>\n", id="signs of patterns"),
    ],
)
def test_every_other_byte_stays(here: Path, before: bytes, old: str, new: str, after: bytes) -> None:
    file = here / "file"
    file.write_bytes(before)
    file.chmod(0o751)

    answered = ask("edit_file", path="file", old_string=old, new_string=new)

    assert (answered["replacements"], file.read_bytes(), file.stat().st_mode & 0o777) == (1, after, 0o751)


def test_the_place_of_the_edit_is_shown(here: Path) -> None:
    (here / "file").write_text("".join(f"{number}\n" for number in range(1, 21)))

    answered = ask("edit_file", path="file", old_string="10\n", new_string="ten\nand more\n")

    shown = "\n".join(
        f"{number:>6}\t{line}"
        for number, line in enumerate(["7", "8", "9", "ten", "and more", "11", "12", "13", "14"], 7)
    )
    assert answered == {
        "success": True,
        "error": None,
        "path": "file",
        "replacements": 1,
        "snippet": shown,
    }


@pytest.mark.parametrize(
    ("content", "old", "code", "error"),
    [
        pytest.param(b"a\nb\na\n", "a", "invalid_input", "in the file 2 times, on lines 1, 3:", id="twice"),
        pytest.param(
            b"aaa\n", "aa", "invalid_input", "in the file 2 times, on lines 1, 1:", id="overlapping"
        ),
        pytest.param(
            b"a\n" * 99, "a", "invalid_input", "99 times, on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and"
        ),
        pytest.param(b"a\n", "b", "not_found", "old_string is not in the file", id="not there"),
        pytest.param(
            b"x\n\tif a:\n\t\tb\n", "  if a:\n    b\n", "not_found", "; line 2 differs", id="other space"
        ),
        pytest.param(b"a\n", "new", "invalid_input", "are the same", id="nothing to change"),
        pytest.param(b"a\0b", "a", "invalid_input", "is a binary file of 3 bytes", id="binary"),
        pytest.param(b"a\n\xff", "a", "invalid_input", "the byte 0xff in line 2 is none", id="no UTF-8"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing_and_says_why(
    here: Path, content: bytes, old: str, code: str, error: str
) -> None:
    (here / "file").write_bytes(content)

    answered_code, answered_error = refused("edit_file", path="file", old_string=old, new_string="new")

    assert (answered_code, error in answered_error) == (code, True), answered_error
    assert (here / "file").read_bytes() == content


def test_edits_at_the_same_time_lose_nothing(here: Path) -> None:
    (here / "file").write_text("".join(f"<{number}>\n" for number in range(16)))

    def edit(number: int) -> None:
        ask("edit_file", path="file", old_string=f"<{number}>", new_string=f"[{number}]")

    editing = [threading.Thread(target=edit, args=(number,)) for number in range(16)]
    for one in editing:
        one.start()
    for one in editing:
        one.join()

    assert (here / "file").read_text() == "".join(f"[{number}]\n" for number in range(16))


def test_edits_of_one_turn_are_made_one_after_the_other() -> None:
    assert [name for name, manifest in MANIFESTS.items() if manifest.exclusive] == ["write_file", "edit_file"]
