import urllib.error
from dataclasses import dataclass
from datetime import date
from email.message import Message
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from surefoot import ToolError, ToolResult
from surefoot.function_answer import (
    AnswerForm,
    NoAnswerError,
    answer_form,
    answer_json,
    answer_to,
    failed_answer,
)
from surefoot.function_errors import error_code_of, error_text
from surefoot.schema import check_schema, problems
from surefoot.strict_json import NotStrictJsonError, strict_json
from surefoot.type_schema import schema_of


@dataclass
class Works:
    keyword: str
    results: list[str]
    total: int


class Dated(BaseModel):
    day: date


FORM = answer_form(schema_of(Works, mode="serialization"), "")
OPEN = AnswerForm()


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        pytest.param({"n": 1}, {"success": True, "error": None, "n": 1}, id="a dict without the contract"),
        pytest.param(
            {"success": True, "error": None, "n": 1},
            {"success": True, "error": None, "n": 1},
            id="a dict with it",
        ),
        pytest.param(
            {"success": False, "error": "no key", "error_code": "not_found"},
            {"success": False, "error": "no key", "error_code": "not_found"},
            id="a dict that says no",
        ),
        pytest.param(
            {"error": "no key"}, {"success": False, "error": "no key"}, id="a dict that says only why not"
        ),
        pytest.param(
            {"success": False},
            {"success": False, "error": "the tool did not say why"},
            id="a dict that does not say why not",
        ),
        pytest.param([1, 2], {"success": True, "error": None, "result": [1, 2]}, id="a list"),
        pytest.param("", {"success": True, "error": None, "result": ""}, id="a text"),
        pytest.param(None, {"success": True, "error": None}, id="nothing"),
        pytest.param(
            Works("x", [], 0),
            {"success": True, "error": None, "keyword": "x", "results": [], "total": 0},
            id="a dataclass",
        ),
        pytest.param(
            Dated(day=date(2020, 2, 1)), {"success": True, "error": None, "day": "2020-02-01"}, id="a model"
        ),
        pytest.param(
            ToolResult(success=True, value=[1], message="one"),
            {"success": True, "error": None, "result": [1], "message": "one"},
            id="a result",
        ),
        pytest.param(
            ToolResult[Works](success=False, message="gone", error_code="not_found"),
            {"success": False, "error": "gone", "error_code": "not_found"},
            id="a result that is a failure",
        ),
        pytest.param(
            [Works("x", ["y"], 0)],
            {"success": True, "error": None, "result": [{"keyword": "x", "results": ["y"], "total": 0}]},
            id="dataclasses in a list",
        ),
    ],
)
def test_whatever_is_returned_becomes_a_plain_dict(value: object, answer: dict[str, Any]) -> None:
    assert strict_json(answer_json(answer_to(value, OPEN))) == answer


def test_a_failure_that_is_returned_has_every_own_field() -> None:
    assert answer_to(ToolResult[Works](success=False, message="gone"), FORM) == {
        "success": False,
        "error": "gone",
        "keyword": "",
        "results": [],
        "total": None,
    }


def test_an_exception_is_answered_with_own_fields_empty_and_parameters_repeated() -> None:
    error = ToolError("no such work", "not_found", total=0)
    assert failed_answer(error, FORM, {"keyword": "Suzume", "results": "not a list", "limit": 3}) == {
        "success": False,
        "error": "no such work",
        "error_code": "not_found",
        "keyword": "Suzume",
        "results": [],
        "total": 0,
    }


def validation_error() -> Exception:
    try:
        TypeAdapter(Dated).validate_python({"day": "soon"})
    except ValidationError as error:
        return error
    raise AssertionError


def status_error(status: int) -> Exception:
    request = httpx2.Request("GET", "http://127.0.0.1/")
    try:
        httpx2.Response(status, request=request).raise_for_status()
    except httpx2.HTTPStatusError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(ToolError("x", "rate_limited"), "rate_limited", id="said by the tool"),
        pytest.param(ToolError("x"), "internal_error", id="not said by the tool"),
        pytest.param(validation_error(), "invalid_input", id="validation"),
        pytest.param(TimeoutError(), "timeout", id="timeout"),
        pytest.param(status_error(400), "invalid_input", id="400"),
        pytest.param(status_error(404), "not_found", id="404"),
        pytest.param(status_error(429), "rate_limited", id="429"),
        pytest.param(status_error(401), "external_service_error", id="401"),
        pytest.param(status_error(503), "external_service_error", id="503"),
        pytest.param(status_error(504), "timeout", id="504"),
        pytest.param(httpx2.ReadTimeout("slow"), "timeout", id="a client's timeout"),
        pytest.param(httpx2.ConnectError("down"), "external_service_error", id="a client's connection"),
        pytest.param(
            urllib.error.HTTPError("http://127.0.0.1/", 429, "slow down", Message(), None),
            "rate_limited",
            id="urllib's 429",
        ),
        pytest.param(urllib.error.URLError("down"), "external_service_error", id="urllib's connection"),
        pytest.param(ConnectionResetError(), "external_service_error", id="a socket"),
        pytest.param(FileNotFoundError(2, "no"), "not_found", id="a missing file"),
        pytest.param(KeyError("a"), "internal_error", id="a bug"),
        pytest.param(ExceptionGroup("g", [TimeoutError()]), "timeout", id="one error of a group"),
        pytest.param(ExceptionGroup("g", [TimeoutError(), KeyError()]), "internal_error", id="several"),
    ],
)
def test_an_exception_has_one_of_six_codes(error: Exception, code: str) -> None:
    assert error_code_of(error) == code


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(KeyError("a"), "KeyError: 'a'", id="a bug"),
        pytest.param(TimeoutError(), "TimeoutError", id="says nothing"),
        pytest.param(ToolError("no such work", "not_found"), "no such work", id="a sentence"),
        pytest.param(
            validation_error(),
            "day: Input should be a valid date or datetime, input is too short",
            id="validation",
        ),
        pytest.param(httpx2.ConnectError("connection refused"), "connection refused", id="a client's"),
    ],
)
def test_an_exception_is_told_in_a_sentence(error: Exception, text: str) -> None:
    assert error_text(error) == text


def test_a_long_sentence_is_shortened() -> None:
    assert len(error_text(ToolError("x" * 100_000)).encode()) <= 2048


HINTS: list[Any] = [Works, Dated, list[Works], dict[str, int], str, int, None, Works | None, Any, list[int]]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(
    st.sampled_from(HINTS),
    st.dictionaries(st.sampled_from(["keyword", "results", "total", "day"]), json_values),
)
def test_every_answer_of_failure_fits_the_schema_of_success(hint: Any, params: dict[str, Any]) -> None:  # noqa: ANN401
    form = answer_form(schema_of(hint, mode="serialization"), "")
    check_schema(form.schema)
    assert problems(form.schema, strict_json(answer_json(failed_answer(KeyError(), form, params)))) == ()
    returned = answer_to({"success": False, "error": "no"}, form)
    assert problems(form.schema, strict_json(answer_json(returned))) == ()


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(float("nan"), "not JSON compliant", id="NaN"),
        pytest.param(b"x", "a value of type bytes is no JSON", id="bytes"),
        pytest.param({"a": object()}, "a value of type object is no JSON", id="an object"),
        pytest.param("\ud800", "a lone surrogate in a string", id="a lone surrogate"),
        pytest.param(nested(101), "nested deeper than 100", id="too deep"),
        pytest.param(nested(100_000), "nested too deep", id="much too deep"),
        pytest.param(circle(), "Circular reference detected", id="a circle"),
        pytest.param({(1, 2): 3}, "keys must be", id="a key that is no text"),
        pytest.param({1: 2, "1": 3}, "stands twice", id="two keys that become one"),
    ],
)
def test_what_is_no_json_is_no_answer(value: object, reason: str) -> None:
    with pytest.raises((NoAnswerError, NotStrictJsonError), match=reason):
        strict_json(answer_json({"result": value}))


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        pytest.param(
            {"success": True, "error": None, "n": 1}, ToolResult(success=True, value={"n": 1}), id="fields"
        ),
        pytest.param(
            {"success": True, "error": None, "result": 7}, ToolResult(success=True, value=7), id="one value"
        ),
        pytest.param({"success": True, "error": None}, ToolResult[None](success=True), id="nothing"),
        pytest.param(
            {"success": False, "error": "gone", "error_code": "not_found", "results": []},
            ToolResult[None](success=False, message="gone", error_code="not_found"),
            id="a failure with empty fields",
        ),
        pytest.param(
            {"success": False, "error": "half", "done": 3},
            ToolResult(success=False, value={"done": 3}, message="half"),
            id="a failure with something to give",
        ),
    ],
)
def test_a_plain_dict_is_read_as_a_result(answer: dict[str, Any], result: ToolResult[Any]) -> None:
    assert ToolResult.of(answer) == result
