"""Bearer tokens of an OpenID Connect issuer, and what is made of forged ones."""

import base64
import hmac
import json
import time
from collections.abc import Callable, Generator, Mapping
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.workers.codec_server.conftest import TOKEN, served
from tests.workers.codec_server.issuing import AUDIENCE, TestIssuer
from tests.workers.codec_server.test_rate_limit import Clock
from workers.codec_server.guards import AnyGuard, TokenGuard, UnauthorizedError
from workers.codec_server.issuer import Issuer, IssuerError

Forge = Callable[[TestIssuer], str]

NOTHING: dict[str, object] = {}


@pytest.fixture
def issuing() -> Generator[TestIssuer]:
    with TestIssuer() as issuer:
        yield issuer


async def loaded(issuing: TestIssuer, *, clock: Clock | None = None) -> Issuer:
    issuer = Issuer(issuing.url, audience=AUDIENCE, clock=clock or time.monotonic)
    await issuer.load()
    return issuer


async def refusal(issuer: Issuer, token: str | None) -> str:
    with pytest.raises(UnauthorizedError) as caught:
        await issuer.caller(token)
    return str(caught.value)


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def unsigned(issuing: TestIssuer) -> str:
    return ".".join((part({"alg": "none", "kid": "rsa"}), issuing.token().split(".")[1], ""))


def signed_with_the_public_key(issuing: TestIssuer) -> str:
    """Sign as with a shared secret, which everybody has who reads the public key."""
    public = issuing.rsa.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    said = ".".join((part({"alg": "HS256", "kid": "rsa"}), issuing.token().split(".")[1]))
    signature = base64.urlsafe_b64encode(hmac.new(public, said.encode(), sha256).digest()).decode()
    return f"{said}.{signature.rstrip('=')}"


def signed_by_another(issuing: TestIssuer) -> str:
    return issuing.token(key=generate_private_key(public_exponent=65537, key_size=2048))


def with_other_claims(issuing: TestIssuer) -> str:
    header, _, signature = issuing.token().split(".")
    claims = {"iss": issuing.url, "aud": AUDIENCE, "sub": "eve", "exp": time.time() + 300}
    return f"{header}.{part(claims)}.{signature}"


def no_token(_: TestIssuer) -> str:
    return "no.token"


def of_an_unknown_key(issuing: TestIssuer) -> str:
    return issuing.token(kid="gone")


def claiming(claims: Mapping[str, object]) -> Forge:
    """Have the issuer itself sign other claims."""

    def forge(issuing: TestIssuer) -> str:
        return issuing.token(claims)

    return forge


@pytest.mark.parametrize("way", ["RS256", "ES256"])
async def test_a_token_of_the_issuer_names_its_subject(issuing: TestIssuer, way: str) -> None:
    key, kid = (issuing.rsa, "rsa") if way == "RS256" else (issuing.curve, "curve")
    token = issuing.token({"aud": ["another", AUDIENCE]}, key=key, algorithm=way, kid=kid)

    assert await (await loaded(issuing)).caller(token) == "subject ada"


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        pytest.param(no_token, "is not accepted: Not enough segments", id="no token at all"),
        pytest.param(unsigned, "is signed in a way that is not accepted", id="unsigned"),
        pytest.param(
            signed_with_the_public_key,
            "is signed in a way that is not accepted",
            id="signed with the public key",
        ),
        pytest.param(
            signed_by_another, "is not accepted: Signature verification failed", id="signed by another"
        ),
        pytest.param(
            with_other_claims, "is not accepted: Signature verification failed", id="with other claims"
        ),
        pytest.param(
            claiming({"exp": time.time() - 60}),
            "is not accepted: Signature has expired",
            id="expired",
        ),
        pytest.param(
            claiming({"nbf": time.time() + 3600}),
            "is not accepted: The token is not yet valid (nbf)",
            id="not valid yet",
        ),
        pytest.param(
            claiming({"aud": "another"}),
            "is not accepted: Audience doesn't match",
            id="for another application",
        ),
        pytest.param(
            claiming({"iss": "https://evil.example"}),
            "is not accepted: Invalid issuer",
            id="of another issuer",
        ),
        pytest.param(
            claiming({"exp": None}),
            'is not accepted: Token is missing the "exp" claim',
            id="without an end",
        ),
        pytest.param(
            claiming({"aud": None}),
            'is not accepted: Token is missing the "aud" claim',
            id="for anybody",
        ),
        pytest.param(
            of_an_unknown_key,
            "is signed with a key that its issuer does not have",
            id="of an unknown key",
        ),
    ],
)
async def test_a_token_that_is_not_good_is_refused(issuing: TestIssuer, forge: Forge, sentence: str) -> None:
    assert await refusal(await loaded(issuing), forge(issuing)) == f"the token {sentence}"


async def test_keys_are_kept_and_asked_for_again_when_the_issuer_changes_them(issuing: TestIssuer) -> None:
    issuing.published, clock = ["curve"], Clock()
    issuer = await loaded(issuing, clock=clock)
    refused = [await refusal(issuer, issuing.token()) for _ in range(3)]
    at_first = issuing.asked.count("/keys")

    issuing.published, clock.now = ["rsa"], 31.0
    taken = [await issuer.caller(issuing.token()) for _ in range(3)]
    after_the_change = issuing.asked.count("/keys")
    clock.now = 700.0
    await issuer.caller(issuing.token())

    assert refused == ["the token is signed with a key that its issuer does not have"] * 3
    assert taken == ["subject ada"] * 3
    assert (at_first, after_the_change, issuing.asked.count("/keys")) == (1, 2, 3)


async def test_an_issuer_that_is_away_is_no_refusal_and_is_not_asked_by_every_request(
    issuing: TestIssuer,
) -> None:
    clock = Clock()
    issuer = await loaded(issuing, clock=clock)
    issuing.answers["/keys"] = (503, NOTHING)
    clock.now = 700.0

    async with served(guard=issuer) as server:
        answers = [
            await server.ask("/decode", '{"payloads": []}', Authorization=f"Bearer {issuing.token()}")
            for _ in range(3)
        ]

    assert {answer.status_code for answer in answers} == {503}
    assert answers[-1].json() == {"error": f"{issuing.url}/keys answered 503"}
    assert issuing.asked.count("/keys") == 2


@pytest.mark.parametrize(
    ("path", "answer", "sentence"),
    [
        pytest.param(
            "/.well-known/openid-configuration",
            (404, NOTHING),
            "URL/.well-known/openid-configuration answered 404",
        ),
        pytest.param(
            "/.well-known/openid-configuration", (200, [NOTHING]), "the discovery document of URL is none"
        ),
        pytest.param(
            "/.well-known/openid-configuration",
            (200, {"issuer": "https://evil.example", "jwks_uri": "https://evil.example/keys"}),
            "URL says that its name is https://evil.example: use the issuer's own spelling",
        ),
        pytest.param("/keys", (302, NOTHING), "URL/keys answered 302"),
        pytest.param("/keys", (200, {"keys": "none"}), "the keys of URL cannot be read: "),
        pytest.param("/keys", (200, {"keys": ["x" * 1024 * 1024]}), "URL/keys answers too much"),
    ],
)
async def test_an_issuer_that_cannot_be_used_is_one_sentence(
    issuing: TestIssuer, path: str, answer: tuple[int, object], sentence: str
) -> None:
    issuing.answers[path] = answer

    with pytest.raises(IssuerError) as caught:
        await loaded(issuing)

    assert str(caught.value).replace(issuing.url, "URL").startswith(sentence)


async def test_keys_are_not_asked_for_in_the_clear(issuing: TestIssuer) -> None:
    issuing.answers["/.well-known/openid-configuration"] = (
        200,
        {"issuer": issuing.url, "jwks_uri": "http://keys.example/keys"},
    )

    with pytest.raises(
        IssuerError, match=r"http://keys\.example/keys is not asked for keys: it has to be https://"
    ):
        await loaded(issuing)


async def test_an_issuer_that_does_not_answer_is_one_sentence() -> None:
    issuing = TestIssuer()
    with issuing:
        pass

    with pytest.raises(IssuerError, match=r"/\.well-known/openid-configuration does not answer: "):
        await loaded(issuing)


async def test_beside_an_issuer_the_one_token_is_taken_too(issuing: TestIssuer) -> None:
    guard = AnyGuard((TokenGuard(TOKEN), await loaded(issuing)))

    assert [await guard.caller(TOKEN), await guard.caller(issuing.token())] == ["token", "subject ada"]
    with pytest.raises(UnauthorizedError, match="the token is not accepted"):
        await guard.caller("guess")
    with pytest.raises(UnauthorizedError, match=f"a bearer token of {issuing.url} is needed"):
        await guard.caller(None)
