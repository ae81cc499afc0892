import asyncio
from datetime import timedelta
from typing import Any

import pytest

from activities.model import ModelRefusedError, ModelUnavailableError
from activities.providers.opening import open_provider_model
from surefoot.conversation import AssistantMessage
from tests.activities.openai_server import DROP, HANG, Answer, ModelServer, Raw, Reply
from tests.activities.providers.asking import (
    AS_A_WHOLE,
    CHAT,
    EVERY_PROTOCOL,
    PROMPT,
    SECRET,
    SYSTEM,
    Whole,
    ask,
    settings,
)


def error(status: int, message: str = "", *, code: str | None = None, retry_after: str | None = None) -> Raw:
    body: dict[str, Any] = {"error": {"message": message, "type": "some_error", "code": code}}
    return Raw(status, body, {"retry-after": retry_after} if retry_after else {})


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(error(429, "slow down"), "limits the rate of requests (429): slow down", id="429"),
        pytest.param(error(500, "oops"), "failed (500): oops", id="500"),
        pytest.param(Raw(502, b"<html>"), "failed (502): <html>", id="502 from a gateway"),
        pytest.param(Raw(503, {}), "failed (503): it gave no reason", id="503"),
        pytest.param(error(529, "Overloaded"), "failed (529): Overloaded", id="529"),
        pytest.param(error(408, "slow"), "failed (408): slow", id="408"),
        pytest.param(DROP, "cannot be reached: RemoteProtocolError: Server disconnected", id="dropped"),
        pytest.param(
            Raw(200, b"no gzip", {"content-encoding": "gzip"}), "Error -3 while decompressing", id="bad gzip"
        ),
    ],
)
async def test_what_time_may_heal_is_asked_for_once_and_left_to_be_tried_again(
    answer: Answer, reason: str, model: str
) -> None:
    with ModelServer(answer, Reply(text="too late")) as server:
        with pytest.raises(ModelUnavailableError) as raised:
            await ask(server, model=model)
        assert (reason in raised.value.reason, len(server.requests)) == (True, 1)


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(error(401, "bad key"), "refused the key (401): bad key", id="401"),
        pytest.param(error(403, "not you"), "refused the key (403): not you", id="403"),
        pytest.param(error(402, "pay"), "the account's quota is used up (402): pay", id="402"),
        pytest.param(error(404, "who?"), "does not know the model", id="404"),
        pytest.param(error(400, "no"), "rejected the request (400): no", id="400"),
        pytest.param(error(422, "no"), "rejected the request (422): no", id="422"),
        pytest.param(Raw(301, b"", {"location": "/"}), "its address is not right", id="a redirect"),
    ],
)
async def test_what_time_cannot_heal_is_refused_after_one_request(
    answer: Answer, reason: str, model: str
) -> None:
    with ModelServer(answer, Reply(text="too late")) as server:
        with pytest.raises(ModelRefusedError) as raised:
            await ask(server, model=model)
        assert (reason in raised.value.reason, len(server.requests)) == (True, 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(error(429, "pay", code="insufficient_quota"), "quota is used up", id="a 429 on quota"),
    ],
)
async def test_a_refusal_says_more_where_the_provider_does(answer: Answer, reason: str) -> None:
    with ModelServer(answer) as server, pytest.raises(ModelRefusedError, match=reason):
        await ask(server)


async def test_an_overloaded_stream_is_tried_again() -> None:
    event = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n'
    answer = Raw(body=event, headers={"content-type": "text/event-stream"})
    with ModelServer(answer) as server, pytest.raises(ModelUnavailableError, match="Busy"):
        await ask(server, model="anthropic:claude-sonnet-5-5")


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize(
    ("retry_after", "expected"),
    [
        pytest.param("7", timedelta(seconds=7), id="seconds"),
        pytest.param("soon", None, id="nonsense"),
        pytest.param("9" * 30, timedelta(days=1), id="longer than a day"),
        pytest.param("Wed, 21 Oct 2015 07:28:00 GMT", timedelta(0), id="a date that is past"),
        pytest.param(None, None, id="nothing"),
    ],
)
async def test_the_pause_that_the_provider_asks_for_is_told(
    retry_after: str | None, expected: timedelta | None, model: str
) -> None:
    unavailable = pytest.raises(ModelUnavailableError)
    with ModelServer(error(429, retry_after=retry_after)) as server, unavailable as raised:
        await ask(server, model=model)
    assert raised.value.retry_after == expected


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_a_server_that_hangs_is_given_up(model: str) -> None:
    with ModelServer(HANG) as server, pytest.raises(ModelUnavailableError, match="did not answer in time"):
        await ask(server, model=model, request_timeout=timedelta(seconds=0.1))


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_nobody_at_the_address_is_tried_again(model: str) -> None:
    with ModelServer() as server:
        pass
    with pytest.raises(ModelUnavailableError, match="cannot be reached"):
        await ask(server, model=model)


async def test_a_cancelled_request_is_no_failure_of_the_model() -> None:
    with ModelServer(HANG) as server:
        asking = asyncio.create_task(ask(server))
        await asyncio.to_thread(server.wait_for, 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_reason_is_one_short_line_without_the_key(status: int, model: str) -> None:
    answer = error(status, f"Bearer {SECRET}\nand sk-proj-abcdefgh\n" + "x" * 10_000)
    failed = pytest.raises((ModelRefusedError, ModelUnavailableError))
    with ModelServer(answer) as server, failed as raised:
        await ask(server, model=model)
    reason = str(raised.value)
    assert (SECRET in reason, "abcdefgh" in reason, "\n" in reason, len(reason) < 500) == (
        False,
        False,
        False,
        True,
    )


@pytest.mark.parametrize("model", AS_A_WHOLE)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"not json", id="no JSON"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b"[" * 50_000, id="nested without end"),
        pytest.param(b'{"a": ' + b"9" * 5_000 + b"}", id="a number without end"),
        pytest.param({}, id="an empty object"),
        pytest.param([1], id="an array"),
        pytest.param(None, id="null"),
        pytest.param({"choices": [], "output": []}, id="no choice"),
        pytest.param({"choices": 1, "output": 1, "content": 1}, id="another shape"),
    ],
)
async def test_a_body_that_is_no_reply_is_an_unreadable_reply(body: object, model: str) -> None:
    with ModelServer(Raw(body=body)) as server:
        reply = (await ask(server, model=model)).reply
    assert reply == AssistantMessage(unreadable=reply.unreadable or "")


async def test_a_web_page_is_an_unreadable_reply() -> None:
    page = Raw(body=b"<html>Welcome</html>", headers={"content-type": "text/html"})
    with ModelServer(page) as server:
        reply = (await ask(server, model=Whole(CHAT))).reply
    assert "expected JSON data" in (reply.unreadable or "")


async def test_a_model_that_failed_once_answers_the_next_time() -> None:
    with ModelServer(error(500), Reply(text="Back.")) as server:
        model = open_provider_model(CHAT, protocol="native", settings=settings(server))
        with pytest.raises(ModelUnavailableError):
            await model.reply((SYSTEM, PROMPT), closing=False)
        result = await model.reply((SYSTEM, PROMPT), closing=False)
        await model.close()
    assert result.reply.text == "Back."
