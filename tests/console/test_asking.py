"""What is shown of a call that waits for approval, and what is typed about it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given

from console.approval_text import approval_text, question_lines
from console.asking import Edit, No, Yes, read_reply
from surefoot.events import ApprovalRequested
from tests.surefoot.arbitrary import JSON_VALUES


def question(**params: object) -> ApprovalRequested:
    fields = {"time": datetime(2026, 1, 1, tzinfo=UTC), "tool_exec_id": "3-1", "call_id": "c", "tool": "rm"}
    told = {"params": params, "params_sha256": "", "why": "every call of the tool does"}
    return ApprovalRequested.model_validate({**fields, **told})


def test_what_cannot_be_seen_is_an_escape() -> None:
    hidden = "a\u200bb\u202ec\u001b[2J\nd e\U000e0041 ü"

    assert list(question_lines(question(path=hidden, n=1))) == [
        "rm (3-1) waits for approval: every call of the tool does",
        '  "path": "a\\u200bb\\u202ec\\u001b[2J\\nd e\\udb40\\udc41 ü"',
        '  "n": 1',
    ]


@given(JSON_VALUES)
def test_arguments_are_shown_exactly_and_each_on_one_line(value: object) -> None:
    _, line = question_lines(question(x=value))

    assert line.isprintable()
    assert json.loads(line.strip().removeprefix('"x": ')) == value


def test_a_deadline_is_told() -> None:
    asked = question().model_copy(update={"deadline": datetime(2026, 1, 2, 3, tzinfo=UTC)})

    assert approval_text(asked).startswith("rm (3-1) waits for approval, until 2026-01-02 03:00:00 UTC: ")


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        pytest.param("y", Yes(), id="y"),
        pytest.param(" YES ", Yes(), id="yes"),
        pytest.param("always", Yes(always=True), id="always"),
        pytest.param("n", No("an operator said no"), id="n"),
        pytest.param("n  Not on a Friday. ", No("Not on a Friday."), id="n and why"),
        pytest.param("deny because", No("because"), id="deny"),
        pytest.param("", None, id="nothing"),
        pytest.param("y es", None, id="yes and something"),
        pytest.param("never", None, id="another word"),
    ],
)
def test_a_reply_is_read(text: str, reply: Yes | No | None) -> None:
    assert read_reply(text) == reply


def test_to_edit_is_asked_for_by_its_letter_too() -> None:
    assert isinstance(read_reply("e"), Edit)
