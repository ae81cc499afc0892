"""A codec server as Temporal's UI, its command and strangers meet it, over real HTTP."""

import base64
import json
import logging
from collections.abc import Sequence
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload

from tests.workers.codec_server.conftest import KEYRING, TOKEN, UI, Served, served
from workers.codec_server.application import MOST_BODY_BYTES
from workers.codec_server.coding import json_of
from workers.codec_server.rate_limit import RateLimit
from workers.encryption.codec import EncryptionCodec
from workers.encryption.keys import EncryptionKey, Keyring

SECRET = "the prompt that nobody else may read"
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(SECRET).encode())
ELSEWHERE = Keyring((EncryptionKey("elsewhere", b"e" * 32),))

UNKNOWN_KEY = (
    "this is encrypted with the key 'elsewhere', and this process has only 'new', 'old': add it to "
    "SUREFOOT_ENCRYPTION_KEYS or SUREFOOT_ENCRYPTION_KEYS_FILE"
)
CHANGED = (
    "what names the encryption key 'new' is not opened by the key of that id here: it was changed, or "
    "another key has this id"
)


async def encrypted(keyring: Keyring = KEYRING) -> Payload:
    (payload,) = await EncryptionCodec(keyring).encode([PLAIN])
    return payload


def changed(payload: Payload) -> Payload:
    return Payload(metadata=payload.metadata, data=payload.data[:-1] + bytes([payload.data[-1] ^ 1]))


FIELDS = ("action", "caller", "namespace", "payloads", "keys", "unreadable", "status", "reason")


def audited(logs: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """Give what was logged of requests."""
    return [
        {"event": record.msg} | {name: vars(record)[name] for name in FIELDS if name in vars(record)}
        for record in logs.records
        if record.name == "surefoot.codec"
    ]


async def test_what_is_encoded_decodes_to_itself_in_temporals_own_json(server: Served) -> None:
    value = base64.b64encode(PLAIN.data).decode()
    plain = {"metadata": {"encoding": base64.b64encode(b"json/plain").decode()}, "data": value}
    body = json.dumps({"payloads": [plain, plain]})

    encoded = await server.ask("/encode", body)
    again = await server.ask("/encode", encoded.content)
    decoded = await server.ask("/decode", encoded.content)

    metadata = encoded.json()["payloads"][0]["metadata"]
    assert {name: base64.b64decode(text).decode() for name, text in metadata.items()} == {
        "encoding": "binary/encrypted",
        "encryption-cipher": "AES-256-GCM",
        "encryption-key-id": "new",
    }
    assert again.json() == encoded.json()
    assert (decoded.status_code, decoded.json()) == (200, {"payloads": [plain, plain]})


async def test_what_stands_before_the_last_part_of_a_path_says_nothing(server: Served) -> None:
    answer = await server.ask("/codec/default/decode", json_of([await encrypted()]))

    assert answer.text == json_of([PLAIN])


async def test_no_payloads_are_answered_with_none(server: Served) -> None:
    assert (await server.ask("/decode", '{"payloads": []}')).json() == {"payloads": []}


async def test_what_is_plain_is_left_as_it_is(server: Served) -> None:
    answer = await server.ask("/decode", json_of([PLAIN]))

    assert answer.text == json_of([PLAIN])


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        pytest.param(["unknown"], UNKNOWN_KEY, id="whose key is not here"),
        pytest.param(["changed"], CHANGED, id="that was changed"),
        pytest.param(["unknown", "changed", "unknown"], f"{UNKNOWN_KEY}; {CHANGED}", id="of both kinds"),
    ],
)
async def test_what_cannot_be_decrypted_is_422_with_a_sentence(
    server: Served, kinds: Sequence[str], sentence: str
) -> None:
    made = {"unknown": await encrypted(ELSEWHERE), "changed": changed(await encrypted())}

    answer = await server.ask("/decode", json_of([made[kind] for kind in kinds]))

    assert (answer.status_code, answer.json()) == (422, {"error": sentence})


async def test_beside_what_can_be_decrypted_what_cannot_stays_as_it_was(server: Served) -> None:
    unknown, broken = await encrypted(ELSEWHERE), changed(await encrypted())

    answer = await server.ask("/decode", json_of([unknown, await encrypted(), broken]))

    assert answer.json() == json.loads(json_of([unknown, PLAIN, broken]))


@pytest.mark.parametrize(
    ("headers", "status", "sentence"),
    [
        pytest.param({"Authorization": ""}, 401, "a bearer token is needed", id="no token"),
        pytest.param(
            {"Authorization": f"Basic {TOKEN}"}, 401, "a bearer token is needed", id="another scheme"
        ),
        pytest.param(
            {"Authorization": f"Bearer {TOKEN}x"},
            401,
            "the token is not the one of this server",
            id="a wrong token",
        ),
        pytest.param(
            {"Origin": "https://evil.example"}, 403, "pages of this origin may not ask", id="a stranger"
        ),
        pytest.param(
            {"Origin": f"{UI}.evil.example"}, 403, "pages of this origin may not ask", id="a longer origin"
        ),
        pytest.param(
            {"Origin": "http://temporal.example"}, 403, "pages of this origin may not ask", id="no TLS"
        ),
        pytest.param({"Origin": "null"}, 403, "pages of this origin may not ask", id="a page from nowhere"),
    ],
)
async def test_a_stranger_is_refused(
    server: Served, headers: dict[str, str], status: int, sentence: str
) -> None:
    answer = await server.ask("/decode", json_of([await encrypted()]), **headers)

    assert (answer.status_code, answer.json()) == (status, {"error": sentence})
    assert answer.headers.get("access-control-allow-origin") in (None, UI)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        pytest.param("{", "the body is not strict JSON: ", id="no JSON"),
        pytest.param("[]", 'the body has to be a JSON object with a list "payloads"', id="no object"),
        pytest.param('{"payloads": [1]}', "the payloads cannot be read: ", id="no payload"),
        pytest.param(
            '{"payloads": [{"data": 5}]}', "the payloads cannot be read: ", id="data that is no text"
        ),
    ],
)
async def test_a_body_of_another_form_is_400(server: Served, body: str, sentence: str) -> None:
    answer = await server.ask("/decode", body)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(sentence)


async def test_a_body_that_is_too_large_is_413(server: Served) -> None:
    answer = await server.ask("/decode", b" " * (MOST_BODY_BYTES + 1))

    assert (answer.status_code, answer.json()) == (413, {"error": "the body is larger than 8388608 bytes"})


async def test_a_preflight_is_answered_to_the_ui_alone(server: Served) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Private-Network": "true"}

    ours = await server.http.options("/decode", headers={"Origin": UI, **asked})
    strange = await server.http.options("/decode", headers={"Origin": "https://evil.example", **asked})

    allowed = {name: value for name, value in ours.headers.items() if name.startswith("access-control-")}
    assert (ours.status_code, ours.headers["vary"]) == (204, "Origin")
    assert allowed == {
        "access-control-allow-origin": UI,
        "access-control-allow-credentials": "true",
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "Authorization, Authorization-Extras, Content-Type, X-Namespace",
        "access-control-allow-private-network": "true",
        "access-control-max-age": "600",
    }
    assert strange.status_code == 403
    assert [name for name in strange.headers if name.startswith("access-control-")] == []


async def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    now = 0.0
    async with served(limit=RateLimit(6, clock=lambda: now)) as server:
        body = json_of([await encrypted()])
        first = [(await server.ask("/decode", body)).status_code for _ in range(6)]
        refused = await server.ask("/decode", body)
        now = 10.0
        later = [(await server.ask("/decode", body)).status_code for _ in range(2)]

    assert (first, later) == ([200] * 6, [200, 429])
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    assert refused.headers["access-control-allow-origin"] == UI


async def test_who_guesses_tokens_is_slowed_down_and_nobody_else() -> None:
    async with served(limit=RateLimit(3, clock=lambda: 0.0)) as server:
        guesses = [
            (await server.ask("/decode", "", Authorization="Bearer guess")).status_code for _ in range(4)
        ]

    assert guesses == [401, 401, 401, 429]


async def test_who_guesses_tokens_cannot_name_another_address(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="surefoot.codec"):
        async with served(limit=RateLimit(2, clock=lambda: 0.0)) as server:
            guesses = [
                await server.ask(
                    "/decode", "", Authorization="Bearer guess", X_Forwarded_For=f"10.0.0.{number}"
                )
                for number in range(3)
            ]

    assert [guess.status_code for guess in guesses] == [401, 401, 429]
    assert {vars(record)["address"] for record in caplog.records if record.name == "surefoot.codec"} == {
        "127.0.0.1"
    }


async def test_every_request_is_written_down_without_what_it_holds(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="surefoot.codec"):
        async with served(limit=RateLimit(6)) as server:
            readable, unknown = await encrypted(), await encrypted(ELSEWHERE)
            await server.ask("/decode", json_of([readable, unknown]), X_Namespace="pay\trolls")
            await server.ask("/encode", json_of([PLAIN]))
            await server.ask("/decode", json_of([unknown]))
            await server.ask("/decode", '{"payloads": "' + SECRET + '"}')
            await server.ask("/decode", json_of([readable]), Authorization="Bearer " + SECRET)

    assert audited(caplog) == [
        {
            "event": "answered",
            "action": "decode",
            "caller": "token",
            "namespace": "pay?rolls",
            "payloads": 2,
            "keys": ["elsewhere", "new"],
            "unreadable": 1,
        },
        {
            "event": "answered",
            "action": "encode",
            "caller": "token",
            "namespace": "default",
            "payloads": 1,
            "keys": ["new"],
            "unreadable": 0,
        },
        {
            "event": "refused",
            "action": "decode",
            "caller": "token",
            "namespace": "default",
            "payloads": 1,
            "keys": ["elsewhere"],
            "unreadable": 1,
            "status": 422,
            "reason": UNKNOWN_KEY,
        },
        {"event": "refused", "action": "decode", "caller": "token", "namespace": "default", "status": 400},
        {
            "event": "refused",
            "action": "decode",
            "caller": "unknown",
            "namespace": "default",
            "status": 401,
            "reason": "the token is not the one of this server",
        },
    ]
    assert SECRET not in caplog.text


async def test_anybody_may_ask_whether_it_is_up(server: Served) -> None:
    answer = await server.http.get("/health")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
