import time

import pytest
from hypothesis import given
from pydantic import JsonValue

from surefoot.redaction import REDACTED, names_a_secret, redacted, redacted_text
from surefoot.summary import summarize_params
from tests.surefoot.arbitrary import JSON_VALUES, TEXTS


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        *(
            pytest.param(key, True, id=key)
            for key in (
                "password",
                "db_password",
                "PASSWORD",
                "api_key",
                "apiKey",
                "X-Api-Key",
                "token",
                "accessToken",
                "x-auth-token",
                "Authorization",
                "client_secret",
                "secrets",
                "private-key",
                "credentials",
                "Cookie",
                "pwd",
            )
        ),
        *(
            pytest.param(key, False, id=key)
            for key in ("max_tokens", "tokens", "path", "key", "keys", "tokenizer", "author", "query", "")
        ),
    ],
)
def test_a_key_tells_whether_its_value_is_a_secret(key: str, secret: bool) -> None:
    assert names_a_secret(key) is secret


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("ls -la src/", "ls -la src/", id="no secret"),
        pytest.param("export KEY=sk-abc123DEF456", f"export KEY={REDACTED}", id="a provider's key"),
        pytest.param(
            'curl -H "Authorization: Bearer eyJabc.def" https://example.org',
            f'curl -H "Authorization: Bearer {REDACTED}" https://example.org',
            id="a header with a bearer token",
        ),
        pytest.param(
            "Authorization: Basic dXNlcjpwdw==", f"Authorization: Basic {REDACTED}", id="basic auth"
        ),
        pytest.param(
            "git clone https://ada:hunter2@example.org/x",
            f"git clone https://{REDACTED}@example.org/x",
            id="url",
        ),
        pytest.param(
            "https://example.org:8080/a@b", "https://example.org:8080/a@b", id="a port is no password"
        ),
        pytest.param("PASSWORD=hunter2 make", f"PASSWORD={REDACTED} make", id="a variable"),
        pytest.param("mysql --password=hunter2 -e x", f"mysql --password={REDACTED} -e x", id="an option"),
        pytest.param(
            "mysql --password hunter2 -e x", f"mysql --password {REDACTED} -e x", id="its value apart"
        ),
        pytest.param("reset the password of ada", "reset the password of ada", id="a sentence"),
        pytest.param('{"token": "abc123"}', f'{{"token": "{REDACTED}"}}', id="JSON in a text"),
        pytest.param("?api_key=abc123&page=2", f"?api_key={REDACTED}&page=2", id="a query"),
        pytest.param("ghp_0123456789abcdefABCDEF", REDACTED, id="a token of a forge"),
        pytest.param("AKIAIOSFODNN7EXAMPLE", REDACTED, id="a key of a cloud"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
            REDACTED,
            id="a private key",
        ),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-CBC,0A\n\nMIIE\n-----END RSA PRIVATE KEY-----",
            REDACTED,
            id="a private key with a passphrase",
        ),
        pytest.param(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----",
            REDACTED,
            id="a private key of PGP",
        ),
        pytest.param("ASIAIOSFODNN7EXAMPLE", REDACTED, id="a key of a cloud for a while"),
        pytest.param("sk_" + "live_0123456789", REDACTED, id="a key of payments"),
        pytest.param(
            'password: "so, it; is" and', f'password: "{REDACTED}" and', id="a password of several words"
        ),
        pytest.param("password='a b', x=1", f"password='{REDACTED}', x=1", id="one in other quotes"),
        pytest.param('password="a\\"b" x', f'password="{REDACTED}" x', id="one with a quote in it"),
        pytest.param(
            '-d "{\\"password\\": \\"hunter2\\", \\"user\\": \\"ada\\"}"',
            f'-d "{{\\"password\\": \\"{REDACTED}\\", \\"user\\": \\"ada\\"}}"',
            id="JSON in a shell's quotes",
        ),
        pytest.param(
            '"password": "", "user": "ada"', '"password": "", "user": "ada"', id="an empty password"
        ),
        pytest.param("max_tokens=4096", "max_tokens=4096", id="a number of tokens"),
    ],
)
def test_secrets_are_taken_out_of_a_text(text: str, shown: str) -> None:
    assert redacted_text(text) == shown


@pytest.mark.parametrize(
    ("params", "summary"),
    [
        pytest.param({"password": "hunter2"}, f'password="{REDACTED}"', id="alone"),
        pytest.param(
            {"url": "x", "headers": {"Authorization": "abc", "Accept": "y"}},
            f'url="x", headers={{"Authorization": "{REDACTED}", "Accept": "y"}}',
            id="within another",
        ),
        pytest.param({"n": 1, "token": ["a", "b"]}, f'n=1, token="{REDACTED}"', id="of another kind"),
        pytest.param({"n": 1, "token": None}, "n=1, token=null", id="none is there"),
        pytest.param({"n": 1, "secret": True}, "n=1, secret=true", id="a switch is none"),
        pytest.param(
            {"command": f"echo {'x' * 110} sk-abc123DEF456"}, f"echo {'x' * 110} [re…", id="at the edge"
        ),
    ],
)
def test_the_arguments_that_a_timeline_shows_hold_no_secret(
    params: dict[str, JsonValue], summary: str
) -> None:
    assert summarize_params(params) == summary


@given(JSON_VALUES)
def test_a_value_keeps_its_kind_and_what_is_shown_is_shown_again(value: JsonValue) -> None:
    shown = redacted(value)

    assert type(shown) is type(value)
    assert redacted(shown) == shown


@given(TEXTS)
def test_any_text_is_taken(text: str) -> None:
    redacted_text(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("password" * 500, id="words"),
        pytest.param("://" * 1_300, id="beginnings of URLs"),
        pytest.param("://a:" * 800, id="users of URLs"),
        pytest.param("-----BEGIN " * 360, id="beginnings of keys"),
        pytest.param("a" * 4_000, id="one word"),
        pytest.param("bearer " * 570, id="bearers"),
        pytest.param("eyJaaaaaaaa." * 330, id="tokens"),
        pytest.param("password   " * 360, id="gaps"),
        pytest.param('password="' * 400, id="quotes"),
        pytest.param('password="' + "\\" * 3_990, id="escapes"),
        pytest.param("-----BEGIN PRIVATE KEY-----" + "-" * 3_973, id="hyphens"),
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    redacted_text(text)

    assert time.process_time() - began < 0.2


def test_a_large_value_is_not_looked_through() -> None:
    texts: list[JsonValue] = ["x" * 100 for _ in range(1_000)]
    many: list[JsonValue] = [texts for _ in range(1_000)]
    began = time.process_time()
    redacted(many)

    assert time.process_time() - began < 0.2
