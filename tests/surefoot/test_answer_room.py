import pytest

from surefoot.answer_room import MAX_FOREIGN_ANSWER_BYTES, MAX_TURN_ANSWERS_VALUES, AnswerRoom
from surefoot.sizes import MAX_ANSWER_BYTES, MAX_HISTORY_BYTES

MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("history_bytes", "largest_bytes", "slots"),
    [
        pytest.param(0, MAX_ANSWER_BYTES, 32, id="an empty history"),
        pytest.param(40 * MEBIBYTE, MAX_ANSWER_BYTES, 6, id="a history with 6 MiB left"),
        pytest.param(MAX_HISTORY_BYTES - 1, MAX_ANSWER_BYTES, 0, id="a history with a byte left"),
        pytest.param(MAX_HISTORY_BYTES + 9, MAX_ANSWER_BYTES, 0, id="a history above its limit"),
        pytest.param(0, MAX_FOREIGN_ANSWER_BYTES, 23, id="executors that are not ours"),
    ],
)
def test_as_many_calls_are_in_flight_as_their_answers_have_room(
    history_bytes: int, largest_bytes: int, slots: int
) -> None:
    assert AnswerRoom(history_bytes, largest_bytes=largest_bytes).slots == slots


@pytest.mark.parametrize(
    ("history_bytes", "largest_bytes"),
    [
        pytest.param(0, MAX_ANSWER_BYTES, id="an empty history"),
        pytest.param(30 * MEBIBYTE, MAX_ANSWER_BYTES, id="a history with 16 MiB left"),
        pytest.param(43 * MEBIBYTE, MAX_ANSWER_BYTES, id="a history with 3 MiB left"),
        pytest.param(100, MAX_FOREIGN_ANSWER_BYTES, id="executors that are not ours"),
        pytest.param(41 * MEBIBYTE, MAX_FOREIGN_ANSWER_BYTES, id="few of executors that are not ours"),
    ],
)
def test_answers_never_fill_more_than_the_history_has_left(history_bytes: int, largest_bytes: int) -> None:
    room = AnswerRoom(history_bytes, largest_bytes=largest_bytes)
    in_flight, answered = room.slots, 0
    while in_flight:
        answered += 1
        freed = room.add(largest_bytes)
        in_flight -= 0 if freed and room.spent is None else 1

    assert history_bytes + answered * largest_bytes <= MAX_HISTORY_BYTES


def test_small_answers_keep_no_slot() -> None:
    room = AnswerRoom(0)

    assert all(room.add(100) for _ in range(2_500))
    assert room.spent is None


@pytest.mark.parametrize(
    ("history_bytes", "answer_bytes", "values", "reason"),
    [
        pytest.param(0, 16 * MEBIBYTE - 1, 0, None, id="a byte of room"),
        pytest.param(
            0,
            16 * MEBIBYTE,
            0,
            "this turn's answers fill 16MB already; ask for less at once",
            id="no byte of room",
        ),
        pytest.param(
            40 * MEBIBYTE,
            3 * MEBIBYTE,
            0,
            "this turn's answers fill 3MB already; ask for less at once",
            id="half of what the history had left",
        ),
        pytest.param(0, 9, MAX_TURN_ANSWERS_VALUES - 1, None, id="room for a value"),
        pytest.param(
            0,
            9,
            MAX_TURN_ANSWERS_VALUES,
            "this turn's answers hold 200,000 values already; ask for less at once",
            id="no room for a value",
        ),
        pytest.param(
            MAX_HISTORY_BYTES,
            0,
            0,
            "the history of this run is full; answer with what you have",
            id="a full history",
        ),
    ],
)
def test_a_turn_says_what_its_room_was_spent_on(
    history_bytes: int, answer_bytes: int, values: int, reason: str | None
) -> None:
    room = AnswerRoom(history_bytes)
    room.add(answer_bytes, values=values)

    assert room.spent == reason
