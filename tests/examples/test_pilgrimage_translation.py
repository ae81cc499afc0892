# ruff: noqa: RUF001 - titles are written as those services write them


import pytest

from tests.examples.pilgrimage_calls import TRANSLATE, Ask, always
from tests.examples.pilgrimage_services import Reply, Services

# The provider's client tries again by itself, unless it is told not to.
ONCE = {"x-should-retry": "false"}

MODEL = "openai-chat:translator"
UNREADABLE = f"{MODEL} did not translate it: Invalid response from openai chat completions endpoint"
NOTHING_MORE: dict[str, object] = {}


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        pytest.param(
            Reply({}, 429, {**ONCE, "Retry-After": "120"}),
            (f"{MODEL} is asked too often", "rate_limited", {"retry_after_seconds": 120.0}),
            id="429",
        ),
        pytest.param(
            Reply({}, 429, ONCE),
            (f"{MODEL} is asked too often", "rate_limited", {"retry_after_seconds": None}),
            id="429 without a word",
        ),
        pytest.param(
            Reply({}, 500, ONCE),
            (f"{MODEL} answered 500", "external_service_error", NOTHING_MORE),
            id="500",
        ),
        pytest.param(
            Reply({}, 401),
            (f"{MODEL} answered 401", "external_service_error", NOTHING_MORE),
            id="a wrong key",
        ),
        pytest.param(
            Reply({}, 404), (f"{MODEL} answered 404", "external_service_error", NOTHING_MORE), id="404"
        ),
        pytest.param(
            Reply(b'{"id":'),
            (
                UNREADABLE + ", expected JSON data",
                "external_service_error",
                NOTHING_MORE,
            ),
            id="half a JSON object",
        ),
        pytest.param(
            Reply({"id": 1}),
            (
                UNREADABLE + ": 4 validation errors for ChatCompletion",
                "external_service_error",
                NOTHING_MORE,
            ),
            id="a wrong shape",
        ),
    ],
)
async def test_a_model_in_trouble_is_a_failed_translation(
    ask: Ask, services: Services, reply: Reply, failure: tuple[str, str, dict[str, object]]
) -> None:
    services.trouble["openai"] = always(reply)
    error, code, more = failure

    own = {"text": "響け！", "target_language": "en", "translated": ""}
    assert await ask(TRANSLATE) == {"success": False, "error": error, "error_code": code, **own, **more}


NO_MODEL = "no model is set up for translations: PILGRIMAGE_MODEL or SUREFOOT_MODEL names one"


@pytest.mark.parametrize(
    ("model", "error"),
    [
        pytest.param("", NO_MODEL, id="none"),
        pytest.param("scripted:talk.yaml", NO_MODEL, id="a script"),
        pytest.param("nobody:x", "no translations by nobody:x: Unknown model: nobody:x", id="nobody's"),
    ],
)
async def test_a_model_that_is_none_is_told(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, model: str, error: str
) -> None:
    monkeypatch.setenv("PILGRIMAGE_MODEL", "")
    monkeypatch.setenv("SUREFOOT_MODEL", model)

    answer = await ask(TRANSLATE)

    assert (answer["error"], answer["error_code"]) == (error, "internal_error")
