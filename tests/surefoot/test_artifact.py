import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import JsonValue

from surefoot.artifact import excerpt, excerpt_of_lost
from surefoot.strict_json import encode_json, json_bytes
from tests.surefoot.arbitrary import JSON_VALUES


def shown(answer: JsonValue, limit_bytes: int) -> dict[str, Any]:
    given = excerpt(encode_json(answer), limit_bytes=limit_bytes, artifact="run-1/2-1-abc123.json")
    assert json_bytes(given) <= limit_bytes
    return cast("dict[str, Any]", given)


def test_an_excerpt_has_the_ends_of_the_answer_and_says_where_the_whole_is() -> None:
    answer: JsonValue = {"rows": [f"row {number}" for number in range(1_000)]}

    given = shown(answer, 1_024)
    head, tail = given.pop("text").split("\n... [")

    assert given == {
        "truncated": True,
        "bytes": len(encode_json(answer).encode()),
        "artifact": "run-1/2-1-abc123.json",
    }
    assert encode_json(answer).startswith(head)
    assert "more bytes] ...\n\n[OUTPUT TRUNCATED - exceeded 1KB limit]\n" in tail
    assert tail.endswith('"row 998", "row 999"]}')


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 100_000, id="letters"),
        pytest.param('"' * 100_000, id="quotes, which are escaped twice"),
        pytest.param("\\" * 100_000, id="backslashes"),
        pytest.param("\x00" * 100_000, id="control characters"),
        pytest.param("é\U0001f600" * 20_000, id="letters of many bytes"),
    ],
)
@pytest.mark.parametrize("limit_bytes", [1_024, 10_000, 65_536])
def test_an_excerpt_is_within_its_limit_and_makes_use_of_it(text: str, limit_bytes: int) -> None:
    assert json_bytes(shown(text, limit_bytes)) > limit_bytes // 3


@given(JSON_VALUES, some.integers(1_024, 3_000))
def test_no_answer_makes_an_excerpt_above_its_limit(answer: JsonValue, limit_bytes: int) -> None:
    assert json.loads(json.dumps(shown([answer, "x" * 3_000], limit_bytes)))["truncated"] is True


def test_an_excerpt_of_what_could_not_be_kept_says_so() -> None:
    given = cast("dict[str, Any]", excerpt_of_lost("[" + "1, " * 999 + "1]", limit_bytes=1_024, reason="why"))

    assert given.keys() == {"truncated", "bytes", "note", "text"}
    assert given["note"] == "The rest could not be kept: why"
