import pytest

from activities.draft import TAIL_BYTES, Draft
from activities.interface import Written


def test_a_draft_tells_what_is_being_written_and_how_much_it_is() -> None:
    draft = Draft()
    looks = [draft.written()]
    draft.reason("Hm, hm.")
    looks.append(draft.written())
    for piece in ("So", "."):
        draft.write(piece)
    looks.append(draft.written())
    draft.call("bash")
    draft.argue('{"a"')
    looks.append(draft.written())
    draft.clear()

    assert looks == [
        Written(),
        Written(doing="reasoning", characters=7),
        Written(text="So.", doing="text", characters=10),
        Written(text="So.", doing="call", tool="bash", characters=14),
    ]
    assert draft.written() == Written()


@pytest.mark.parametrize(
    ("pieces", "tail"),
    [
        pytest.param(["a"] * 5_000, "a" * TAIL_BYTES, id="many pieces"),
        pytest.param(["b" * 5_000, "a"], "b" * (TAIL_BYTES - 1) + "a", id="a piece that is longer than all"),
        pytest.param(["x", "é" * 2_000], "é" * (TAIL_BYTES // 2), id="characters of two bytes"),
        pytest.param(["x", "€" * 2_000], "€" * (TAIL_BYTES // 3), id="a cut within a character"),
        pytest.param(["\ud83d", "\ude00", "\ud83d"], "😀\ufffd", id="half a character at the end"),
    ],
)
def test_of_a_long_text_the_end_is_told(pieces: list[str], tail: str) -> None:
    draft = Draft()
    for piece in pieces:
        draft.write(piece)
    assert (draft.written().text, draft.written().characters) == (tail, len("".join(pieces)))
