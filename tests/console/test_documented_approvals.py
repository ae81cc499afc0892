"""The examples of docs/approvals.md, as they are printed."""

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pydantic import TypeAdapter

from activities.agents.agent_file import AgentFile, read_agent
from surefoot.approval import Approval
from surefoot.approvals import params_sha256
from surefoot.authority import read_public_key
from surefoot.decision_token import Asking, SignedDecision, read_token, why_not_signed
from surefoot.run import Approve, Deny
from tests.conftest import RealServer
from tests.console.printed_example import carry_out
from workers.authority_key import AuthorityKey
from workflows.signatures import is_signed

TEXT = (Path(__file__).parents[2] / "docs" / "approvals.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)[number]


@pytest.mark.long
def test_one_call_is_approved_and_one_denied(tmp_path: Path, server: RealServer) -> None:
    ended = carry_out(block("sh"), directory=tmp_path, state=server.state_directory.parent)

    assert ended.exit_code == 0, ended.stderr
    for line in (
        "  put (1-1) approved by Ada",
        "  put (2-1) denied: One file is enough.",
        "  Done.",
    ):
        assert line in ended.stdout.splitlines(), ended.stdout


def test_the_rules_can_be_written_as_they_are_printed(tmp_path: Path) -> None:
    TypeAdapter[Approval](Approval).validate_python(json.loads(block("json")))
    file = tmp_path / "a.md"
    file.write_text(f"---\ndescription: x\n{block('yaml')}---\nDo it.\n")

    agent = read_agent(file)

    assert isinstance(agent, AgentFile), agent
    assert set(agent.definition.approval) == {"bash", "*"}


def test_the_arguments_of_the_updates_are_those_of_the_code() -> None:
    printed = {name: json.loads(fields) for name, fields in re.findall(r"\| `(\w+)` \| `(\{.*\})` \|", TEXT)}

    assert set(printed["approve"]) == set(Approve.model_validate(printed["approve"]).model_dump())
    assert set(printed["deny"]) == set(Deny.model_validate(printed["deny"]).model_dump())


@pytest.fixture
def vector() -> tuple[AuthorityKey, str, SignedDecision, str]:
    """The printed test vector: the private and the public key, what is decided, and the token."""
    private, public = block("text", 1).split()
    key = AuthorityKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private)))
    decided = SignedDecision.model_validate_json(block("json", 1), strict=True)
    return key, public, decided, "".join(block("text", 2).split())


def test_the_printed_token_is_taken_as_printed(
    vector: tuple[AuthorityKey, str, SignedDecision, str],
) -> None:
    key, public, decided, token = vector
    request = Approve(
        tool_exec_id="1-1", params_sha256=params_sha256({"file": "a.txt"}), by="Ada", token=token
    )
    asking = Asking(decided.workflow_id, decided.run_id)
    last = datetime.fromtimestamp(decided.expires, UTC)

    assert read_public_key(public).raw == key.public
    assert read_token(token).decision == decided
    assert why_not_signed(request, (public,), asking, last, is_signed) is None
    assert decided.key == hashlib.sha256(key.public).hexdigest()[:16]


def test_the_printed_program_makes_the_printed_token(
    vector: tuple[AuthorityKey, str, SignedDecision, str],
) -> None:
    key, _, decided, token = vector
    program: dict[str, Any] = {}
    exec(block("python"), program)
    pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    question = {"tool_exec_id": "1-1", "params_sha256": decided.params_sha256}
    more = {"by": "Ada", "expires": decided.expires, "nonce": decided.nonce}
    made = program["approval"](pem, decided.workflow_id, decided.run_id, question, **more)

    assert made == {**question, "by": "Ada", "token": token}
