"""Decisions that have to be signed, from the command line and at the terminal of the run."""

import asyncio
import json
import stat
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import JsonValue
from temporalio.client import Client

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.console.test_approvals import asks_for
from tests.console.test_run_at_a_terminal import Terminal
from tests.workflows.operators import update

AUTHORITY, AUTHORITY_FILE = "SUREFOOT_AUTHORITY", "SUREFOOT_AUTHORITY_FILE"
KEY_FILE = "SUREFOOT_AUTHORITY_KEY_FILE"


def has_a_key(surefoot: Surefoot, name: str) -> str:
    """Make a key in `NAME.pem`, and give its public part."""
    made = surefoot("authority", "new", f"{name}.pem", "--name", name)
    assert made.exit_code == 0, made.stderr
    return made.stdout.strip()


async def paste(server: RealServer, workflow_id: str, argument: JsonValue) -> None:
    """Send the update as the UI's form and other programs do, which know nothing of Surefoot."""
    client = await Client.connect(server.address, namespace=server.namespace)
    await update(client.get_workflow_handle(workflow_id), "approve", argument)


def test_a_key_is_made_for_its_owner_alone_and_shown_again(usable: Surefoot) -> None:
    public = has_a_key(usable, "ada")
    file = usable.directory / "ada.pem"

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert usable("authority", "show", "ada.pem", "--name", "ada").stdout.strip() == public
    assert usable.refuses("authority", "new", "ada.pem") == (
        "the key cannot be written to ada.pem: File exists"
    )
    file.chmod(0o640)
    assert usable.refuses("authority", "show", "ada.pem") == (
        "the key file ada.pem is open to others than its owner: `chmod 600 ada.pem`"
    )


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        pytest.param(AUTHORITY, "ada", "a key is NAME:KEY or KEY, an Ed25519 public key", id="no key"),
        pytest.param(
            AUTHORITY_FILE, "missing", "SUREFOOT_AUTHORITY_FILE cannot be read: missing", id="no file"
        ),
        pytest.param(AUTHORITY_FILE, "empty", "cannot be used: empty: no key is named", id="an empty file"),
    ],
)
def test_no_run_is_started_without_the_authority_that_is_named(
    usable: Surefoot, variable: str, value: str, why: str
) -> None:
    (usable.directory / "empty").write_text("# nobody\n")

    sentence = usable.refuses("run", "Go on.", *asks_for(usable), environment={variable: value})

    assert why in sentence


@pytest.mark.long
def test_calls_are_decided_about_by_who_has_the_key(
    surefoot: Surefoot, server: RealServer, tmp_path: Path
) -> None:
    ada, _ = has_a_key(surefoot, "ada"), has_a_key(surefoot, "eve")
    keys = tmp_path / "authority"
    keys.write_text(f"# who may\n{ada}\n")
    asked = asks_for(surefoot, {"a": 1}, {"a": 2}, {"a": 3})
    running = surefoot.start(
        *("run", "Go on.", *asked, "--workflow-id", "signed", "--on-approval", "wait", "-o", "jsonl"),
        environment={AUTHORITY_FILE: str(keys)},
    )
    running.until_it_says("decide with `surefoot approve signed 1-1`")
    with_ada, with_eve = {KEY_FILE: "ada.pem"}, {KEY_FILE: "eve.pem"}

    unsigned = surefoot("approve", "signed", "1-1", "--yes")
    forged = surefoot("approve", "signed", "1-1", "--yes", environment=with_eve)
    approved = surefoot("approve", "signed", "1-1", "--yes", "--from", "Ada", environment=with_ada)
    running.until(lambda: '"2-1"' in running.stdout or None)
    replayed = surefoot("approve", "signed", "1-1", "--yes", environment=with_ada)
    denied = surefoot("deny", "signed", "2-1", "--reason", "Not two.", environment=with_ada)
    running.until(lambda: '"3-1"' in running.stdout or None)
    printed = surefoot("approve", "signed", "3-1", "--yes", "--print", environment=with_ada)
    argument = json.loads(printed.stdout)
    asyncio.run(paste(server, "signed", argument))
    ran = running.ends()
    shown = surefoot("show", "signed")

    not_taken = "surefoot: the run 'signed' does not take the approval: "
    assert unsigned.stderr.splitlines()[-1] == (
        "surefoot: decisions of this run must be signed: let SUREFOOT_AUTHORITY_KEY_FILE name the file of a "
        "key of its authority, or ask who has one"
    )
    assert forged.stderr.splitlines()[-1].startswith(
        f"{not_taken}the token is signed with a key that is none of the run's authority: "
    )
    assert replayed.stderr == f"{not_taken}tool call '1-1' has already been decided: it was approved by Ada\n"
    assert [one.exit_code for one in (unsigned, forged, replayed)] == [2] * 3
    assert [one.exit_code for one in (approved, denied, printed, ran)] == [0] * 4, ran.stderr
    assert (argument["tool_exec_id"], argument["token"].split(".")[0]) == ("3-1", "surefoot-decision-1")
    assert [e["signed_by"] for e in ran.events if e["type"].startswith(("approval_g", "approval_d"))] == [
        "ada"
    ] * 3
    assert "  put (1-1) approved by Ada, signed by the key ada" in shown.stdout.splitlines(), shown.stdout


@pytest.mark.long
def test_whoever_is_at_the_terminal_signs_with_their_key(surefoot: Surefoot) -> None:
    authority = {AUTHORITY: has_a_key(surefoot, "ada")}
    asked = asks_for(surefoot, {"a": 1})
    surefoot.environment |= {**authority, KEY_FILE: "ada.pem"}
    with closing(Terminal(surefoot, "run", "Go on.", *asked)) as terminal:
        terminal.until_it_shows("Approve put (1-1)?")
        terminal.press("y\n")
        exit_code = terminal.ends()

    assert exit_code == 0, terminal.shown
    assert "put (1-1) approved, signed by the key ada" in terminal.shown


@pytest.mark.long
def test_whoever_is_at_the_terminal_without_a_key_is_told_so_and_not_asked(surefoot: Surefoot) -> None:
    surefoot.environment |= {AUTHORITY: has_a_key(surefoot, "ada")}
    asked = asks_for(surefoot, {"a": 1})
    with closing(Terminal(surefoot, "run", "Go on.", *asked, "--workflow-id", "unsigned")) as terminal:
        terminal.until_it_shows("it must be signed with the key that SUREFOOT_AUTHORITY_KEY_FILE names")
        approved = surefoot("approve", "unsigned", "1-1", "--yes", environment={KEY_FILE: "ada.pem"})
        exit_code = terminal.ends()

    assert (approved.exit_code, exit_code) == (0, 0), terminal.shown
    assert "Approve put" not in terminal.shown
