import base64
import html
import json
import textwrap
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.interface import Capture
from activities.tools.secrets.scrubber import NOTHING_TO_HIDE, Scrubber
from surefoot.failures import Captured, raised
from surefoot.outcome import ToolSuccess
from surefoot.truncation import keep_ends, truncate

TOKEN = 'gh"p/ä=7&x secret'
PEM = (
    "-----BEGIN KEY-----\n"
    + "\n".join(textwrap.wrap("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 9, 64))
    + "\n-----END KEY-----"
)
SCRUBBER = Scrubber({"T": TOKEN, "PEM": PEM, "PIN": "12345678"})


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        pytest.param(f"a {TOKEN} b", "a [secret T] b", id="as it is"),
        pytest.param(json.dumps({"k": TOKEN}), '{"k": "[secret T]"}', id="as JSON in ASCII"),
        pytest.param(json.dumps(TOKEN, ensure_ascii=False), '"[secret T]"', id="as JSON"),
        pytest.param(json.dumps(TOKEN).replace("/", "\\/"), '"[secret T]"', id="as JSON of PHP"),
        pytest.param(json.dumps(json.dumps(TOKEN)), '"\\"[secret T]\\""', id="as JSON in JSON"),
        pytest.param(json.dumps(TOKEN).replace("&", "\\u0026"), '"[secret T]"', id="as JSON of Go"),
        pytest.param(f"?t={quote(TOKEN, safe='')}&", "?t=[secret T]&", id="in a URL"),
        pytest.param(quote(TOKEN, safe="").lower(), "[secret T]", id="in a URL, small"),
        pytest.param(html.escape(TOKEN), "[secret T]", id="in HTML"),
        pytest.param(html.escape(TOKEN, quote=False), "[secret T]", id="in HTML, outside of tags"),
        pytest.param(html.escape(TOKEN).replace("&quot;", "&#34;"), "[secret T]", id="in HTML of Go"),
        pytest.param(TOKEN.encode().hex(), "[secret T]", id="in hexadecimal digits"),
        pytest.param(PEM.split("\n")[2], "[secret PEM]", id="a line of a key"),
        pytest.param(base64.encodebytes(PEM.encode()).decode().strip(), "[secret PEM]", id="base64 in lines"),
    ],
)
def test_a_secret_is_hidden_in_the_forms_that_it_may_have(written: str, shown: str) -> None:
    assert SCRUBBER.text(written) == shown
    assert SCRUBBER.value({"stdout": written}) == {"stdout": shown}


@pytest.mark.parametrize("before", [b"", b"u", b"us", b"user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_hides_it_wherever_it_began(before: bytes, encode: type[bytes]) -> None:
    encoded = encode(before + TOKEN.encode() + b"@after").decode()
    shown = SCRUBBER.text(encoded)
    left = shown.replace("[secret T]", "")
    assert ("[secret T]" in shown, len(left) < len(encoded) - 20) == (True, True)


@given(st.text(min_size=6, max_size=40), st.text(), st.text())
def test_no_text_holds_a_secret_after_it_was_scrubbed(secret: str, before: str, after: str) -> None:
    if len(secret.strip()) >= 6 and secret not in "[secret S]":
        scrubbed = Scrubber({"S": secret}).text(before + secret + after)
        assert secret not in scrubbed.replace("[secret S]", "\0")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(
            {"a": [TOKEN, {TOKEN: 1}]}, {"a": ["[secret T]", {"[secret T]": 1}]}, id="texts and keys"
        ),
        pytest.param(
            {"pin": 12345678, "n": 3, "t": True}, {"pin": "[secret PIN]", "n": 3, "t": True}, id="a number"
        ),
        pytest.param([1, None, "fine"], [1, None, "fine"], id="none"),
    ],
)
def test_an_answer_loses_its_secrets(value: JsonValue, shown: JsonValue) -> None:
    assert SCRUBBER.outcome(ToolSuccess(tool="x", result=value)) == ToolSuccess(tool="x", result=shown)


@pytest.mark.parametrize("cut", range(4, len(TOKEN) - 4))
def test_no_part_is_left_where_a_text_was_cut(cut: int) -> None:
    text = "x" * (200 - len(TOKEN[:cut].encode())) + TOKEN + "y" * 400
    room = truncate("x" * 1000, 300).text.find("\n")
    text = "x" * (room - len(TOKEN[:cut].encode())) + text.lstrip("x")
    assert TOKEN[:cut] not in SCRUBBER.text(truncate(text, 300).text)


def test_the_rest_of_a_secret_is_hidden_behind_a_cut() -> None:
    text = keep_ends("y" * 400 + TOKEN + "z" * 80, 256)
    rest = text.rpartition("limit]\n")[2].rstrip("z")
    assert (0 < len(rest) < len(TOKEN), SCRUBBER.text(text)) == (True, text.replace(rest, "[secret T]"))


def test_a_failure_is_scrubbed_in_all_its_texts() -> None:
    failure = raised("x", f"no {TOKEN}", Captured(f"o {TOKEN}", f"e {TOKEN}"))
    shown = SCRUBBER.outcome(failure)
    assert shown == raised("x", "no [secret T]", Captured("o [secret T]", "e [secret T]"))


def test_a_sentence_that_was_cut_within_a_secret_does_not_end_with_its_beginning() -> None:
    # The sentence is bounded to 2 KB, an ellipsis included.
    begin = "x" * (2048 - 3 - 10 - len("Tool 'x' crashed: "))
    failure = raised("x", begin + TOKEN)
    shown = SCRUBBER.outcome(failure)
    assert (failure.error.endswith("…"), shown.model_dump()["error"][-12:]) == (
        True,
        "[secret T]…"[-12:].rjust(12, "x"),
    )


def test_a_secret_that_has_not_come_completely_is_hidden_already() -> None:
    shown = SCRUBBER.capture(Capture(stdout=f"here: {TOKEN[:9]}", stderr="done", started_at="now"))
    assert shown == Capture(stdout="here: [secret T]", stderr="done", started_at="now")


def test_without_secrets_nothing_changes() -> None:
    success = ToolSuccess(tool="x", result={"a": TOKEN})
    assert (bool(NOTHING_TO_HIDE), NOTHING_TO_HIDE.outcome(success)) == (False, success)


def test_a_file_is_scrubbed_as_bytes() -> None:
    assert SCRUBBER.data(b"\xff" + TOKEN.encode() + b"\0") == b"\xff[secret T]\0"
