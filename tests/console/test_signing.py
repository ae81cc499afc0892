"""What is signed of a question, and what is not."""

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from pydantic import JsonValue

from console.signing import why_not_signable
from surefoot.approvals import params_sha256
from surefoot.events import ApprovalRequested
from tests.surefoot.arbitrary import JSON_VALUES
from workers.authority_key import AuthorityKey

KEY = AuthorityKey(Ed25519PrivateKey.generate())


def question(params: dict[str, JsonValue], sha256: str) -> ApprovalRequested:
    fields = {"time": datetime(2026, 1, 1, tzinfo=UTC), "tool_exec_id": "3-1", "call_id": "c", "tool": "rm"}
    told = {"params": params, "params_sha256": sha256, "why": "every call of the tool does", "signed": True}
    return ApprovalRequested.model_validate({**fields, **told})


def test_params_that_are_shown_are_those_that_are_signed() -> None:
    told = question({"path": "draft.txt"}, params_sha256({"path": "/"}))

    assert why_not_signable(told, KEY) == (
        "the params that are told are not those that would be signed: another answers for the run"
    )


@given(JSON_VALUES)
def test_params_that_travelled_can_be_signed(value: JsonValue) -> None:
    asked = question({"x": value}, params_sha256({"x": value}))

    assert why_not_signable(ApprovalRequested.model_validate_json(asked.model_dump_json()), KEY) is None
