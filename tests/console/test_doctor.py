import asyncio
import json
import signal
import socket
import subprocess
from datetime import date
from pathlib import Path
from sysconfig import get_path
from typing import Any

import pytest
from temporalio.client import Client

from activities.tools.sandbox.level import LEVELS, Level
from activities.tools.sandbox.probe import why_not
from tests.conftest import RealServer
from tests.console.command import Ended, Surefoot
from tests.workers.wedging import BROKEN, raising
from workers.encryption.keys import new_key

pytestmark = pytest.mark.slow

KEY = {"OPENAI_API_KEY": "sk-very-secret"}


def checks(ended: Ended) -> dict[str, tuple[str, str]]:
    """The verdict and the sentence of each check by its name."""
    rows = (line.split(maxsplit=1) for line in ended.stdout.splitlines())
    return {
        name.strip(): (verdict, sentence.strip())
        for verdict, rest in rows
        for name, sentence in [(rest[:16], rest[16:])]
    }


def verdicts(ended: Ended) -> dict[str, str]:
    return {name: verdict for name, (verdict, _) in checks(ended).items()}


def test_a_fresh_installation_is_well_and_starts_no_server(surefoot_alone: Surefoot) -> None:
    ended = surefoot_alone("doctor", environment=KEY)

    assert (ended.exit_code, ended.stderr) == (0, "")
    assert verdicts(ended) == {
        "platform": "ok",
        "server binary": "ok",
        "state directory": "ok",
        "store": "ok",
        "model": "ok",
        "tools": "ok",
        "sandbox": "ok",
        "encryption": "ok",
        "server": "ok",
        "runs": "warn",
    }
    assert (surefoot_alone.server(), surefoot_alone.state.exists()) == (None, False)


def test_a_key_is_named_and_never_shown(surefoot_alone: Surefoot) -> None:
    ended = surefoot_alone("doctor", environment=KEY)

    assert checks(ended)["model"][1].startswith("OPENAI_API_KEY set;")
    assert KEY["OPENAI_API_KEY"] not in ended.stdout + ended.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_of_the_sandbox_is_told_and_why_it_is_not_a_higher_one(
    surefoot_alone: Surefoot, level: Level
) -> None:
    ended = surefoot_alone("doctor", environment={"SUREFOOT_SANDBOX": level})

    verdict, sentence = checks(ended)["sandbox"]
    if (reason := why_not(level)) is not None:
        assert (ended.exit_code, verdict) == (1, "fail")
        assert reason in sentence
    else:
        assert sentence.startswith(f"executables run at the level {level}")
        assert [f"not {one}: " in sentence for one in LEVELS] == [
            one in LEVELS[: LEVELS.index(level)] for one in LEVELS
        ]
        assert verdict == ("warn" if level == "none" else "ok")


def test_keys_and_secrets_are_named_and_never_shown(surefoot_alone: Surefoot) -> None:
    key, older = (new_key(date(2027, 1, day)) for day in (2, 1))
    secret = "a-very-secret-token"

    ended = surefoot_alone(
        "doctor",
        environment={
            "SUREFOOT_ENCRYPTION_KEYS": f"{key},{older}",
            "SUREFOOT_SECRET_GH_TOKEN": secret,
            "SUREFOOT_AUTHORITY": "ada:" + "A" * 43,
        },
    )

    found = checks(ended)
    assert {name: found[name] for name in ("encryption", "authority", "secrets")} == {
        "encryption": (
            "ok",
            (
                f"what runs say is encrypted with the key {key.partition(':')[0]}; {older.partition(':')[0]} "
                "decrypts, too"
            ),
        ),
        "authority": (
            "ok",
            (
                "runs started here take only decisions signed with one key; decisions made here are not "
                "signed, and refused"
            ),
        ),
        "secrets": ("ok", "for tools that are allowed them: GH_TOKEN"),
    }
    shown = ended.stdout + ended.stderr
    assert [one for one in (secret, key.partition(":")[2], older.partition(":")[2]) if one in shown] == []


def test_an_embedded_server_that_is_up_is_looked_at_and_left_up(surefoot_alone: Surefoot) -> None:
    dev = surefoot_alone.start("dev")
    dev.until_it_says("task queue surefoot")

    ended = surefoot_alone("doctor")
    still_up = surefoot_alone.server()
    dev.signal(signal.SIGTERM)
    dev.ends()

    assert (ended.exit_code, still_up is not None) == (0, True)
    assert checks(ended)["server"][1].startswith("the embedded server, Temporal 1.")
    assert checks(ended)["retention"] == ("ok", "histories are kept for 90 days after a run's end")
    assert checks(ended)["runs"] == ("ok", "0 open runs looked at, 0 cannot go on")
    assert checks(ended)["queue"] == ("ok", "surefoot: 0 open runs, 1 worker")
    assert {name: checks(ended)[name][0] for name in ("tuning", "attributes")} == {
        "tuning": "ok",
        "attributes": "ok",
    }


def test_of_a_named_server_clock_attributes_and_queue_are_looked_at(
    surefoot: Surefoot, server: RealServer
) -> None:
    environment = {"SUREFOOT_TASK_QUEUE": "nobody-is-here"}

    ended = surefoot("doctor", "--address", server.address, environment=environment)

    found = checks(ended)
    assert {name: found[name][0] for name in ("tuning", "clock", "attributes", "queue")} == {
        "tuning": "ok",
        "clock": "ok",
        "attributes": "ok",
        "queue": "warn",
    }
    assert "nobody-is-here: 0 open runs, 0 workers: new runs would wait there" in ended.stdout


def test_a_namespace_without_search_attributes_is_told_of(surefoot: Surefoot, server: RealServer) -> None:
    create = ("operator", "namespace", "create", "--namespace", "bare", "--address", server.address)
    subprocess.run([Path(get_path("scripts")) / "temporal", *create], check=True, capture_output=True)

    ended = surefoot("doctor", "--address", server.address, environment={"TEMPORAL_NAMESPACE": "bare"})

    verdict, sentence = checks(ended)["attributes"]
    assert verdict == "warn"
    assert "SurefootAgent, SurefootCost, SurefootErrorCodes" in sentence


@pytest.mark.parametrize(
    ("environment", "check", "sentence"),
    [
        pytest.param(
            {"SUREFOOT_PRICES": "nowhere.toml"},
            "prices",
            "SUREFOOT_PRICES cannot be used: the price table 'nowhere.toml' cannot be read: No such file or "
            "directory",
            id="a price table that is not there",
        ),
        pytest.param(
            {"SUREFOOT_SERVER_BINARY": "/nowhere/temporal"},
            "server binary",
            "SUREFOOT_SERVER_BINARY is '/nowhere/temporal', which is not an executable file",
            id="a server binary that is not there",
        ),
        pytest.param(
            {"SUREFOOT_STATE_DIRECTORY": f"{__file__}/state"},
            "state directory",
            f"{__file__} is a file: set SUREFOOT_STATE_DIRECTORY to a directory",
            id="a state directory in a file",
        ),
        pytest.param(
            {
                "SUREFOOT_STORE": "s3://bucket",
                "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
                "AWS_ACCESS_KEY_ID": "a",
                "AWS_SECRET_ACCESS_KEY": "b",
            },
            "store",
            "the store s3://bucket cannot be read: the service cannot be reached; "
            "set SUREFOOT_STORE and the AWS_ variables",
            id="a bucket that cannot be reached",
        ),
        pytest.param(
            {"SUREFOOT_MODEL": "openai-chat:gpt-5-mini"},
            "model",
            "SUREFOOT_MODEL cannot be used: model 'openai-chat:gpt-5-mini' needs a key: set OPENAI_API_KEY, "
            "or OPENAI_BASE_URL for a server that asks for none",
            id="a model without its key",
        ),
        pytest.param(
            {"PATH": "/nowhere"},
            "tools",
            "Tool 'bash' crashed with exit code 127 (TOOL_CRASHED)",
            id="no interpreter for bash",
        ),
    ],
)
def test_what_is_broken_is_1_and_says_what_to_do(
    surefoot_alone: Surefoot, environment: dict[str, str], check: str, sentence: str
) -> None:
    ended = surefoot_alone("doctor", environment=environment)

    assert ended.exit_code == 1
    assert checks(ended)[check][0] == "fail"
    assert checks(ended)[check][1].startswith(sentence)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        pytest.param("127.0.0.1:1", "Connection refused", id="nothing listens"),
        pytest.param("localhost", "an address is written host:port", id="no port"),
    ],
)
def test_a_named_server_that_cannot_be_reached_is_4(
    surefoot_alone: Surefoot, address: str, reason: str
) -> None:
    ended = surefoot_alone("doctor", "--address", address)

    assert (ended.exit_code, ended.stderr) == (4, "")
    assert checks(ended)["server"] == (
        "fail",
        f"cannot reach Temporal at {address}: {reason}; start it, or name another with --address",
    )


def test_a_namespace_that_is_missing_is_1(surefoot: Surefoot, server: RealServer) -> None:
    environment = {"TEMPORAL_NAMESPACE": "nowhere"}

    ended = surefoot("doctor", "--address", server.address, environment=environment)

    assert (ended.exit_code, checks(ended)["retention"][0]) == (1, "fail")
    assert "`temporal operator namespace create -n nowhere --retention 90d`" in ended.stdout


def test_a_flag_that_does_not_exist_is_2(surefoot_alone: Surefoot) -> None:
    assert surefoot_alone.refuses("doctor", "-o", "xml") == (
        "Invalid value for '--output' / '-o': 'xml' is not one of 'text', 'json' "
        "(see `surefoot doctor --help`)"
    )


def test_ctrl_c_while_a_server_does_not_answer_is_130(surefoot_alone: Surefoot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        command = surefoot_alone.start("doctor", "--address", f"127.0.0.1:{listener.getsockname()[1]}")
        connection, _ = listener.accept()
        command.signal(signal.SIGINT)
        ended = command.ends()
        connection.close()

    assert ended.exit_code == 130
    assert "Traceback" not in ended.stderr


async def test_a_wedged_run_is_named_with_its_reason_and_is_1(
    surefoot: Surefoot, server: RealServer, client: Client
) -> None:
    async with raising(client) as run:
        text = await asyncio.to_thread(surefoot, "doctor", "--address", server.address)
        told = await asyncio.to_thread(surefoot, "doctor", "--address", server.address, "-o", "json")
    document: dict[str, Any] = json.loads(told.stdout)
    wedged = {one["workflow_id"]: one for one in document["wedged_runs"]}

    assert (text.exit_code, told.exit_code, document["status"]) == (1, 1, "fail")
    assert f"{run.id} cannot go on, its workflow task failed" in text.stdout
    assert (wedged[run.id]["run_id"], wedged[run.id]["reason"]) == (run.first_execution_run_id, BROKEN)
