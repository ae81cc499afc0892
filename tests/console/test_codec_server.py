"""`surefoot codec-server`, asked by the `temporal` command; what the UI makes of it is in tests/browser."""

import base64
import json
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tests.conftest import RealServer
from tests.console.command import MODEL, Command, Surefoot
from tests.workers.codec_server.issuing import AUDIENCE, TestIssuer
from workers.server_binary import find_server_binary
from workers.server_ports import free_port
from workers.server_process import ServerProcess
from workers.settings import Settings

PROMPT = "Look after the horse of the princess."
SUMMARY = base64.b64encode(json.dumps(PROMPT).encode()).decode()
"""What the command shows of it."""
KEYS = {"SUREFOOT_ENCRYPTION_KEYS": "first:" + "A" * 43}
GATED = '{bash: {command: "touch begun; until [ -e gate ]; do sleep 0.05; done"}}'
TOKEN = "sixteen-or-more-characters"
MISSING_KEYS = "set SUREFOOT_ENCRYPTION_KEYS or SUREFOOT_ENCRYPTION_KEYS_FILE"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        pytest.param((), {}, f"there is no key to decrypt with: {MISSING_KEYS}", id="no keys"),
        pytest.param(
            (),
            KEYS,
            "anybody could ask: set SUREFOOT_CODEC_TOKEN or SUREFOOT_CODEC_OIDC_ISSUER, or allow it with "
            "--no-auth",
            id="no token",
        ),
        pytest.param(
            (),
            {**KEYS, "SUREFOOT_CODEC_TOKEN": "too-short"},
            "SUREFOOT_CODEC_TOKEN has to have 16 characters or more, of ASCII and none a space",
            id="a short token",
        ),
        pytest.param(
            (),
            {**KEYS, "SUREFOOT_CODEC_OIDC_ISSUER": "https://issuer.example"},
            "SUREFOOT_CODEC_OIDC_ISSUER and SUREFOOT_CODEC_OIDC_AUDIENCE only go together: set both or "
            "neither",
            id="an issuer without an audience",
        ),
        pytest.param(
            (),
            {
                **KEYS,
                "SUREFOOT_CODEC_OIDC_ISSUER": "http://issuer.example",
                "SUREFOOT_CODEC_OIDC_AUDIENCE": "surefoot",
            },
            "SUREFOOT_CODEC_OIDC_ISSUER cannot be used: "
            "http://issuer.example/.well-known/openid-configuration is not asked for keys: it has to be https://",
            id="an issuer without TLS",
        ),
        pytest.param(
            ("--no-auth",),
            {**KEYS, "SUREFOOT_CODEC_TOKEN": TOKEN},
            "--no-auth contradicts the token or the issuer of the settings",
            id="a token and none",
        ),
        pytest.param(
            ("--no-auth", "--host", "0.0.0.0"),
            KEYS,
            "--no-auth is for this machine alone, and not for 0.0.0.0",
            id="no token for other machines",
        ),
        pytest.param(("--host", "localhost"), KEYS, "--host 'localhost' is no IP address", id="a name"),
        pytest.param(
            ("--no-auth", "--origin", "*"),
            KEYS,
            "--origin '*' is no origin: write scheme, host and port of the UI, such as https://temporal.example",
            id="any origin",
        ),
    ],
)
def test_what_would_open_it_to_others_is_one_sentence(
    usable: Surefoot, arguments: tuple[str, ...], environment: Mapping[str, str], sentence: str
) -> None:
    assert usable.refuses("codec-server", *arguments, environment=environment) == sentence


@pytest.mark.slow
def test_an_issuers_token_is_taken_and_its_subject_is_written_down(surefoot_alone: Surefoot) -> None:
    with TestIssuer() as issuer:
        oidc = {"SUREFOOT_CODEC_OIDC_ISSUER": issuer.url, "SUREFOOT_CODEC_OIDC_AUDIENCE": AUDIENCE}
        codec = surefoot_alone.start("codec-server", "--port", 0, environment={**KEYS, **oidc})
        headers = {"Authorization": f"Bearer {issuer.token({'sub': 'grace'})}", "X-Namespace": "payroll"}
        request = Request(f"{asked_at(codec)}/decode", b'{"payloads": []}', headers)
        with urlopen(request, timeout=10) as answer:
            status = answer.status
        codec.signal(signal.SIGINT)
        ended = codec.ends()

    (line,) = [json.loads(line) for line in ended.stderr.splitlines() if '"action"' in line]
    assert (status, line["event"], line["caller"], line["namespace"]) == (
        200,
        "answered",
        "subject grace",
        "payroll",
    )
    assert (ended.exit_code, surefoot_alone.server()) == (130, None)


def asked_by_the_ui(server: ServerProcess | None, *, origin: str) -> int:
    """Ask where the server's UI does, as its page would; gives the status, 0 where nobody answers."""
    assert server is not None
    url = f"http://127.0.0.1:{server.ports.codec_port}/decode"
    request = Request(url, b'{"payloads": []}', {"Origin": origin, "Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=10) as answer:
            return answer.status
    except HTTPError as error:
        return error.code
    except (URLError, ConnectionError):
        return 0


@pytest.mark.slow
def test_dev_answers_the_ui_of_its_server_and_of_the_next_one_when_that_is_killed(
    surefoot_alone: Surefoot,
) -> None:
    ports = ("--port", free_port(), "--ui-port", free_port())
    dev = surefoot_alone.start("dev", *ports, environment=KEYS)
    dev.until_it_says("task queue surefoot")
    before = surefoot_alone.server()
    assert before is not None
    ours = f"http://localhost:{before.ports.ui_port}"
    dev.until(lambda: asked_by_the_ui(before, origin=ours) == 200)
    strange = asked_by_the_ui(before, origin="http://localhost:1")

    surefoot_alone.kill_server()
    after = dev.until(surefoot_alone.server)

    assert (strange, asked_by_the_ui(after, origin=ours)) == (403, 200)
    assert (after.process_id != before.process_id, after.ports) == (True, before.ports)


@pytest.mark.slow
def test_a_run_that_stays_answers_the_ui_of_its_server(surefoot_alone: Surefoot) -> None:
    begun, gate = surefoot_alone.directory / "begun", surefoot_alone.directory / "gate"
    (surefoot_alone.directory / "gated.yaml").write_text(f"steps: [{{call: [{GATED}]}}, {{say: Done.}}]\n")
    run = surefoot_alone.start("run", PROMPT, "--model", "scripted:gated.yaml", "--stay", environment=KEYS)
    run.until(begun.exists)
    server = surefoot_alone.server()
    assert server is not None

    run.until(lambda: asked_by_the_ui(server, origin=f"http://127.0.0.1:{server.ports.ui_port}") == 200)
    gate.touch()

    assert (run.ends().exit_code, asked_by_the_ui(server, origin="http://127.0.0.1:1")) == (0, 0)


@pytest.mark.slow
def test_dev_without_keys_opens_nothing_and_says_so_to_one_with_keys(surefoot_alone: Surefoot) -> None:
    ports = ("--port", free_port(), "--ui-port", free_port())
    dev = surefoot_alone.start("dev", *ports)
    dev.until_it_says("task queue surefoot")
    server = surefoot_alone.server()
    ended = surefoot_alone("run", PROMPT, *MODEL, "--stay", environment=KEYS)

    assert server is not None
    assert server.ports.codec_port is None
    assert "the UI shows what is encrypted as it is: its server was started without keys" in ended.stderr


def shown(address: str, workflow_id: str, *options: str) -> str:
    """Show a run's history with the `temporal` command; where it cannot be, what it complains of."""
    temporal = find_server_binary(Settings())
    ended = subprocess.run(
        [temporal, "workflow", "show", "--address", address, "-w", workflow_id, "-o", "json", *options],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return ended.stdout or ended.stderr


def asked_at(command: Command) -> str:
    """Give where a codec server is asked, once it is up."""
    found = command.until(lambda: re.search(r"serving (http://127\.0\.0\.1:\d+)", command.stderr))
    with urlopen(f"{found[1]}/health", timeout=10) as answer:
        assert answer.status == 200
    return found[1]


@pytest.mark.slow
def test_the_temporal_command_reads_a_run_with_the_token_and_without_it_does_not(
    surefoot: Surefoot, server: RealServer, tmp_path: Path
) -> None:
    surefoot("run", PROMPT, *MODEL, "--workflow-id", "encrypted-for-the-command", environment=KEYS)
    codec = surefoot.start("codec-server", "--port", 0, environment={**KEYS, "SUREFOOT_CODEC_TOKEN": TOKEN})
    endpoint = asked_at(codec)

    opaque = shown(server.address, "encrypted-for-the-command")
    # It asks again and again.
    refused = shown(
        server.address,
        "encrypted-for-the-command",
        *("--codec-endpoint", endpoint, "--command-timeout", "1s"),
    )
    readable = shown(
        server.address,
        "encrypted-for-the-command",
        *("--codec-endpoint", endpoint, "--codec-auth", f"Bearer {TOKEN}"),
    )
    codec.signal(signal.SIGTERM)
    ended = codec.ends()

    assert (SUMMARY in opaque, SUMMARY in refused, SUMMARY in readable) == (False, False, True)
    audit = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("{")]
    about = {(line["event"], line.get("caller"), line.get("status")) for line in audit if "action" in line}
    assert about == {("answered", "token", None), ("refused", "unknown", 401)}
    assert PROMPT not in ended.stderr
    assert (ended.exit_code, ended.stdout) == (130, "")
