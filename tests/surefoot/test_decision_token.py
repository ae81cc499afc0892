"""Signed decisions: taken for exactly what was signed, and for nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from surefoot.authority import base64url, key_id, public_key_text
from surefoot.canonical import canonical_json, json_sha256
from surefoot.decision_token import (
    MAX_TOKEN_CHARACTERS,
    TOKEN_VERSION,
    Asking,
    Signing,
    decision_of,
    signed_text,
    signer_of,
    token_text,
    why_not_signed,
)
from surefoot.run import Approve, Deny
from tests.surefoot.arbitrary import JSON_VALUES
from workflows.signatures import is_signed

KEY = Ed25519PrivateKey.from_private_bytes(b"\x01" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"\x02" * 32)
ADA = public_key_text(KEY.public_key().public_bytes_raw(), "ada")
RUN = Asking("put-them", "0199a6de-7a5b-7000-8000-000000000001")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIGNING = Signing(
    key_id(KEY.public_key().public_bytes_raw()),
    int((NOW + timedelta(minutes=10)).timestamp()),
    base64url(b"n" * 16),
)
SHA = json_sha256({"file": "a.txt"})
APPROVE = Approve(tool_exec_id="1-1", params_sha256=SHA, by="Ada")
EDITED = APPROVE.model_copy(update={"params": {"file": "c.txt"}})
OTHER_EDITED = "the token is about other edited params"
DENY = Deny(tool_exec_id="1-1", params_sha256=SHA, reason="Not on a Friday.", by="Ada")


def sign(
    request: Approve | Deny,
    *,
    key: Ed25519PrivateKey = KEY,
    asking: Asking = RUN,
    signing: Signing = SIGNING,
) -> Approve | Deny:
    text = signed_text(decision_of(request, asking, signing))
    return request.model_copy(update={"token": token_text(text, key.sign(text.encode()))})


def written(payload: str, *, version: str = TOKEN_VERSION) -> Approve:
    text = f"{version}.{base64url(payload.encode())}"
    return APPROVE.model_copy(update={"token": token_text(text, KEY.sign(text.encode()))})


def why_not(
    request: Approve | Deny, *, now: datetime = NOW, authority: tuple[str, ...] = (ADA,)
) -> str | None:
    return why_not_signed(request, authority, RUN, now, is_signed)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(APPROVE, id="an approval"),
        pytest.param(APPROVE.model_copy(update={"scope": "run"}), id="one for the run"),
        pytest.param(EDITED, id="one with other params"),
        pytest.param(APPROVE.model_copy(update={"by": None}), id="one by nobody"),
        pytest.param(DENY, id="a denial"),
    ],
)
def test_what_was_signed_is_taken_and_its_key_is_named(request_: Approve | Deny) -> None:
    signed = sign(request_)

    assert (why_not(signed), signer_of(signed, (ADA,))) == (None, "ada")


@pytest.mark.parametrize(
    ("signed", "sent", "why"),
    [
        pytest.param(APPROVE, {"tool_exec_id": "1-2"}, "the token is about tool call '1-1'", id="call"),
        pytest.param(
            APPROVE, {"params_sha256": "0" * 64}, "the token is about other params of the call", id="params"
        ),
        pytest.param(
            APPROVE, {"scope": "run"}, "the token is for the scope 'once', and not for 'run'", id="scope"
        ),
        pytest.param(
            APPROVE,
            {"params": {"file": "d.txt"}},
            OTHER_EDITED,
            id="params added",
        ),
        pytest.param(
            EDITED,
            {"params": {"file": "d.txt"}},
            OTHER_EDITED,
            id="params edited",
        ),
        pytest.param(EDITED, {"params": None}, OTHER_EDITED, id="params left out"),
        pytest.param(APPROVE, {"by": "Eve"}, "the token names somebody else who decides", id="who"),
        pytest.param(DENY, {"reason": "Go away."}, "the token is about another reason", id="reason"),
    ],
)
def test_a_decision_that_was_changed_is_refused(
    signed: Approve | Deny, sent: dict[str, object], why: str
) -> None:
    assert why_not(sign(signed).model_copy(update=sent)) == why


def test_a_denial_is_no_approval_nor_the_other_way_round() -> None:
    denial, approval = sign(DENY).token, sign(APPROVE).token

    assert why_not(APPROVE.model_copy(update={"token": denial})) == (
        "the token is to deny the call, and not to approve it"
    )
    assert why_not(DENY.model_copy(update={"token": approval})) == (
        "the token is to approve the call, and not to deny it"
    )


@pytest.mark.parametrize(
    ("asking", "why"),
    [
        pytest.param(Asking("other", RUN.run_id), "the token is about another run", id="another"),
        pytest.param(
            Asking(RUN.workflow_id, "another"),
            "the token is about another run, or one that was reset",
            id="another of that id",
        ),
    ],
)
def test_a_decision_about_another_run_is_refused(asking: Asking, why: str) -> None:
    assert why_not(sign(APPROVE, asking=asking)) == why


def test_a_token_is_taken_up_to_its_last_second() -> None:
    last = datetime.fromtimestamp(SIGNING.expires, UTC)

    assert why_not(sign(APPROVE), now=last + timedelta(milliseconds=999)) is None
    assert why_not(sign(APPROVE), now=last + timedelta(seconds=1)) == (
        "the token has expired at 2026-01-01 00:10:00 UTC"
    )


def test_a_decision_without_a_token_is_refused_only_where_there_is_an_authority() -> None:
    assert why_not(APPROVE) == (
        "decisions of this run must be signed with a key of its authority, and this one has no token"
    )
    assert (why_not(APPROVE, authority=()), signer_of(sign(APPROVE), ())) == (None, None)


def test_a_key_that_is_none_of_the_authority_is_refused() -> None:
    other = key_id(OTHER.public_key().public_bytes_raw())
    signing = Signing(other, SIGNING.expires, SIGNING.nonce)

    assert why_not(sign(APPROVE, key=OTHER, signing=signing)) == (
        f"the token is signed with a key that is none of the run's authority: {other}"
    )


def test_a_signature_of_another_key_is_refused() -> None:
    assert why_not(sign(APPROVE, key=OTHER)) == (
        "the signature of the token is not one of the key 'ada' over what the token says"
    )


@given(st.data())
def test_no_character_of_a_token_can_be_changed(data: st.DataObject) -> None:
    token = sign(APPROVE).token or ""
    # Of the last character of each part, base64 leaves bits unused.
    at = data.draw(st.sampled_from([n for n in range(len(token) - 1) if token[n + 1] != "."]))
    other = data.draw(st.sampled_from("AZaz09-_.").filter(lambda one: one != token[at]))

    assert why_not(APPROVE.model_copy(update={"token": token[:at] + other + token[at + 1 :]})) is not None


@given(st.text(st.characters(exclude_categories=["Cs"])) | JSON_VALUES.map(canonical_json))
def test_whatever_is_no_decision_is_refused_even_if_it_is_signed(text: str) -> None:
    for request in (written(text), APPROVE.model_copy(update={"token": text})):
        assert (why_not(request) or "").startswith("the token cannot be read: ")


def test_a_token_that_says_more_than_is_known_here_is_refused() -> None:
    said = decision_of(APPROVE, RUN, SIGNING).model_dump()

    assert why_not(written(canonical_json(said))) is None
    assert why_not(written(canonical_json({**said, "only_on": "Friday"}))) == (
        "the token cannot be read: only_on: Extra inputs are not permitted"
    )
    assert why_not(written(canonical_json(said), version="surefoot-decision-2")) == (
        "the token cannot be read: it is no text that begins with 'surefoot-decision-1.'"
    )
    assert why_not(written(canonical_json({**said, "by": "x" * MAX_TOKEN_CHARACTERS}))) is not None
