import asyncio
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.examples.pilgrimage_calls import (
    FAILED,
    FAR,
    POINTS,
    SEARCH,
    SUBJECT,
    Ask,
    Call,
    always,
)
from tests.examples.pilgrimage_services import Reply, Services
from workers.server_ports import free_port

LEAVE_ME = {"Retry-After": "120"}
UNSTEADY = "{} answered something else than expected: "

TROUBLES = [
    pytest.param(Reply({}, 500), "{} answered 500 Internal Server Error", "external_service_error", id="500"),
    pytest.param(Reply({}, 503), "{} answered 503 Service Unavailable", "external_service_error", id="503"),
    pytest.param(Reply({}, 400), "{} answered 400 Bad Request", "invalid_input", id="400"),
    pytest.param(Reply({}, 504), "{} answered 504 Gateway Timeout", "timeout", id="504"),
    pytest.param(
        Reply(b'{"total": 1,'),
        UNSTEADY + "Invalid JSON: EOF while parsing a value at line 1 column 12",
        "external_service_error",
        id="half a JSON object",
    ),
    pytest.param(
        Reply(b"<html>"),
        UNSTEADY + "Invalid JSON: expected value at line 1 column 1",
        "external_service_error",
        id="a web page",
    ),
    pytest.param(
        Reply(b""),
        UNSTEADY + "Invalid JSON: EOF while parsing a value at line 1 column 0",
        "external_service_error",
        id="nothing",
    ),
    pytest.param(
        Reply(),
        "{} cannot be reached: Server disconnected without sending a response.",
        "external_service_error",
        id="a connection that breaks",
    ),
    pytest.param(
        Reply(b"x" * (8 * 2**20 + 1)),
        "{} answered more than 8,388,608 bytes",
        "external_service_error",
        id="too much",
    ),
    pytest.param(
        Reply(b"not gzip", headers={"Content-Encoding": "gzip"}),
        "{} cannot be reached: Error -3 while decompressing data: incorrect header check",
        "external_service_error",
        id="what cannot be decoded",
    ),
]


@pytest.mark.parametrize("asked", FAILED)
@pytest.mark.parametrize(("reply", "error", "code"), TROUBLES)
async def test_a_service_in_trouble_is_a_failure_with_empty_fields(
    ask: Ask, services: Services, asked: str, reply: Reply, error: str, code: str
) -> None:
    call, service, name, own = FAILED[asked]
    services.trouble[service] = always(reply)

    assert await ask(call) == {"success": False, "error": error.format(name), "error_code": code, **own}
    assert len(services.requests) == 1


@pytest.mark.parametrize("asked", FAILED)
async def test_a_wrong_shape_is_told_with_its_first_flaw(ask: Ask, services: Services, asked: str) -> None:
    call, service, name, own = FAILED[asked]
    services.trouble[service] = always(Reply("hello"))
    kind = "a valid array" if service == "geocoder" else "an object"

    assert await ask(call) == {
        "success": False,
        "error": f"{name} answered something else than expected: Input should be {kind}",
        "error_code": "external_service_error",
        **own,
    }


@pytest.mark.parametrize(
    ("call", "service", "body", "place"),
    [
        pytest.param(
            SEARCH,
            "bangumi",
            {"data": [{"id": 1}], "total": 1},
            "data.0.name Field required",
            id="a field less",
        ),
        pytest.param(
            SUBJECT,
            "bangumi",
            b'{"id": 1, "name": "a", "rating": {"score": NaN}}',
            "rating.score Input should be a finite number",
            id="no JSON number",
        ),
        pytest.param(
            FAR,
            "geocoder",
            [{"lat": "91", "lon": "0"}],
            "0.lat Input should be less than or equal to 90",
            id="a station beyond the pole",
        ),
    ],
)
async def test_a_wrong_shape_is_told_by_its_place(
    ask: Ask, services: Services, call: Call, service: str, body: object, place: str
) -> None:
    services.trouble[service] = always(Reply(body))

    answer = await ask(call)

    assert answer["error"].endswith(f" answered something else than expected: {place}")
    assert answer["error_code"] == "external_service_error"


@pytest.mark.parametrize("asked", ["a work", "the points of a work", "a station by the geocoder"])
async def test_what_a_service_does_not_have_is_not_found(ask: Ask, services: Services, asked: str) -> None:
    call, service, name, own = FAILED[asked]
    services.trouble[service] = always(Reply({"title": "Not Found"}, 404))

    assert await ask(call) == {
        "success": False,
        "error": f"{name} answered 404 Not Found",
        "error_code": "not_found",
        **own,
    }


@pytest.mark.parametrize("asked", FAILED)
@pytest.mark.parametrize(
    ("headers", "told", "seconds"),
    [
        pytest.param({}, ", and does not say when to ask again", None, id="without a word"),
        pytest.param({"Retry-After": "soon"}, ", and does not say when to ask again", None, id="in no form"),
        pytest.param(LEAVE_ME, ": ask again in 120 s", 120, id="for two minutes"),
    ],
)
async def test_a_service_that_is_asked_too_often_is_not_asked_again(
    ask: Ask, services: Services, asked: str, headers: dict[str, str], told: str, seconds: int | None
) -> None:
    call, service, name, own = FAILED[asked]
    services.trouble[service] = always(Reply({}, 429, headers))

    assert await ask(call) == {
        "success": False,
        "error": f"{name} is asked too often{told}",
        "error_code": "rate_limited",
        **own,
        "retry_after_seconds": seconds,
    }
    assert len(services.requests) == 1


async def test_while_a_service_wants_to_be_left_alone_no_call_asks_it(ask: Ask, services: Services) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    services.trouble["bangumi"] = always(Reply({}, 429, {"Retry-After": until}))

    answers = [await ask(SEARCH), await ask(SUBJECT), await ask(POINTS)]

    assert [answer.get("error_code") for answer in answers] == ["rate_limited", "rate_limited", None]
    assert [request.path for request in services.requests if request.service == "bangumi"] == [
        "/v0/search/subjects"
    ]
    assert 3590 <= answers[1]["retry_after_seconds"] <= 3600


@pytest.mark.parametrize(("refusals", "code"), [(1, None), (2, "rate_limited")])
async def test_a_short_wait_is_waited_for_once(
    ask: Ask, services: Services, refusals: int, code: str | None
) -> None:
    refused = Reply({}, 429, {"Retry-After": "1"})
    services.trouble["bangumi"] = lambda _: refused if len(services.requests) <= refusals else None

    answer = await ask(SUBJECT)

    first, second = services.requests
    assert (answer.get("error_code"), second.at - first.at >= 1) == (code, True)


async def test_requests_to_a_service_keep_their_distance(ask: Ask, services: Services) -> None:
    began = time.monotonic()

    await asyncio.gather(ask(SEARCH), ask(SUBJECT), ask(POINTS))

    _, second = [request.at for request in services.requests if request.service == "bangumi"]
    assert second - began >= 0.2


@pytest.mark.parametrize("asked", FAILED)
async def test_a_service_that_is_slow_is_a_timeout(
    ask: Ask, services: Services, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    call, service, name, own = FAILED[asked]
    over = threading.Event()
    monkeypatch.setenv("PILGRIMAGE_TIMEOUT_SECONDS", "0.2")
    services.trouble[service] = lambda _: Reply({}) if over.wait(20) else None

    answer = await ask(call)

    over.set()
    error = f"{name} did not answer within 0.2 s"
    assert answer == {"success": False, "error": error, "error_code": "timeout", **own}


async def test_a_service_that_drips_is_slow(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)

    async with await asyncio.start_server(drip, "127.0.0.1", port := free_port()):
        monkeypatch.setenv("PILGRIMAGE_BANGUMI_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("PILGRIMAGE_TIMEOUT_SECONDS", "0.3")

        assert (await ask(SUBJECT))["error"] == "Bangumi did not answer within 0.3 s"


@pytest.mark.parametrize("asked", FAILED)
async def test_a_service_that_is_not_there_cannot_be_reached(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    call, service, name, own = FAILED[asked]
    monkeypatch.setenv(f"PILGRIMAGE_{service.upper()}_URL", f"http://127.0.0.1:{free_port()}")

    error = f"{name} cannot be reached: All connection attempts failed"
    assert await ask(call) == {
        "success": False,
        "error": error,
        "error_code": "external_service_error",
        **own,
    }


async def test_an_address_that_is_none_is_told(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILGRIMAGE_BANGUMI_URL", "api.bgm.tv")

    error = "Bangumi cannot be reached: Request URL is missing an 'http://' or 'https://' protocol."
    assert (await ask(SUBJECT))["error"] == error


@pytest.mark.parametrize("asked", FAILED)
async def test_a_service_that_sends_in_circles_is_left(ask: Ask, services: Services, asked: str) -> None:
    call, service, name, own = FAILED[asked]
    again = {"Location": f"{services.url}/{service}/again"}
    services.trouble[service] = always(Reply({}, 307, again))

    error = f"{name} cannot be reached: Exceeded maximum allowed redirects."
    assert await ask(call) == {
        "success": False,
        "error": error,
        "error_code": "external_service_error",
        **own,
    }
    assert len(services.requests) == 4
