"""Connections to a real server behind a front that speaks TLS, as Temporal's configuration says."""

import re
import ssl
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import MODEL, Surefoot
from tests.workers.tls.authority import Authority, Pair
from tests.workers.tls.front import tls_front
from tests.workers.tls.key_front import key_front
from workers.connection import TemporalUnreachableError, connect
from workers.settings import SettingsError
from workflows.converter import DATA_CONVERTER

KEY = "the-key-of-a-namespace"
APART = "a client certificate and its key only go together"
UNREADABLE = "Temporal's configuration names a file that cannot be read"


def trusting(authority: Authority) -> dict[str, str]:
    return {"TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(authority.certificate)}


def showing(pair: Pair) -> dict[str, str]:
    return {
        "TEMPORAL_TLS_CLIENT_CERT_PATH": str(pair.certificate),
        "TEMPORAL_TLS_CLIENT_KEY_PATH": str(pair.key),
    }


class Told:
    """What `connect` says of a server, with the directory of the test as DIR."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        self._monkeypatch, self._directory = monkeypatch, directory

    async def __call__(self, address: str, environment: Mapping[str, str]) -> str:
        for name, value in environment.items():
            self._monkeypatch.setenv(name, value)
        try:
            return f"namespace {(await connect(address, DATA_CONVERTER)).namespace}"
        except TemporalUnreachableError as error:
            sentence = str(error).removeprefix(f"cannot reach Temporal at {address}: ")
            return sentence.replace(str(self._directory), "DIR")
        except SettingsError as error:
            return f"unusable: {error}".replace(str(self._directory), "DIR")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Told:
    return Told(monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("hosts", "days", "sentence"),
    [
        pytest.param(["127.0.0.1"], (-1, 1), "namespace default", id="a good one"),
        pytest.param(
            ["temporal.example", "10.1.2.3"],
            (-1, 1),
            "its certificate is for temporal.example, 10.1.2.3, not for this address; where that is right, "
            "TEMPORAL_TLS_SERVER_NAME names the host to expect",
            id="one of other hosts",
        ),
        pytest.param(["127.0.0.1"], (-3, -1), r"its certificate expired on DATE", id="an expired one"),
        pytest.param(
            ["127.0.0.1"],
            (1, 3),
            "its certificate is valid only from DATE on, or this machine's clock is wrong",
            id="one that is not valid yet",
        ),
    ],
)
async def test_the_servers_certificate_decides(
    server: RealServer,
    authority: Authority,
    told: Told,
    hosts: list[str],
    days: tuple[int, int],
    sentence: str,
) -> None:
    own = authority.issue("server", *hosts, days=days)
    with tls_front(server.address, own) as address:
        said = await told(address, trusting(authority))

    assert without_dates(said) == sentence


def sure(said: str) -> str:
    """Forget whether the server's alert came through before the connection ended."""
    return said.removesuffix(" (UnknownCA)").replace("ends the connection, and probably ", "")


def without_dates(said: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d at \d\d:\d\d UTC", "DATE", said)


async def test_a_server_of_another_authority_is_not_believed(
    server: RealServer, authority: Authority, stranger: Authority, own: Pair, told: Told
) -> None:
    with tls_front(server.address, own) as address:
        of_the_machine = await told(address, {"TEMPORAL_TLS": "true"})
        of_a_stranger = await told(address, trusting(stranger))

    assert of_the_machine == (
        "its certificate was issued by an authority that this machine does not know: "
        "TEMPORAL_TLS_SERVER_CA_CERT_PATH names the authority's certificate"
    )
    assert of_a_stranger == "its certificate was not issued with the authority's certificate DIR/stranger.pem"


async def test_a_server_name_is_expected_in_place_of_the_address(
    server: RealServer, authority: Authority, told: Told
) -> None:
    own = authority.issue("server", "temporal.example")
    with tls_front(server.address, own) as address:
        said = await told(address, {**trusting(authority), "TEMPORAL_TLS_SERVER_NAME": "temporal.example"})

    assert said == "namespace default"


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2])
@pytest.mark.parametrize(
    ("days", "sentence"),
    [
        pytest.param((-1, 1), "namespace default", id="a good one"),
        pytest.param(
            (-3, -1),
            "it refuses the client certificate DIR/client.pem, which expired on DATE",
            id="an expired one",
        ),
        pytest.param(
            (1, 3),
            "it refuses the client certificate DIR/client.pem, which is valid only from DATE on",
            id="one that is not valid yet",
        ),
    ],
)
async def test_a_server_that_wants_a_client_certificate_decides(
    server: RealServer,
    authority: Authority,
    own: Pair,
    told: Told,
    newest: ssl.TLSVersion,
    days: tuple[int, int],
    sentence: str,
) -> None:
    pair = authority.issue("client", days=days)
    with tls_front(server.address, own, trusting=authority, newest=newest) as address:
        said = await told(address, {**trusting(authority), **showing(pair)})

    assert without_dates(said) == sentence


async def test_a_client_certificate_of_another_authority_or_none_is_refused(
    server: RealServer, authority: Authority, stranger: Authority, own: Pair, told: Told
) -> None:
    with tls_front(server.address, own, trusting=authority) as address:
        without = await told(address, trusting(authority))
        of_a_stranger = await told(address, showing(stranger.issue("client")))

    assert sure(without) == (
        "it wants a client certificate: TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH name "
        "one and its key"
    )
    assert sure(of_a_stranger) == "it refuses the client certificate DIR/client.pem"


async def test_both_sides_have_to_speak_tls(
    server: RealServer, authority: Authority, own: Pair, told: Told
) -> None:
    with tls_front(server.address, own) as address:
        in_the_clear = await told(address, {})
    to_a_plain_server = await told(server.address, trusting(authority))

    assert in_the_clear == (
        "it ends the connection at once, as servers do that want TLS: TEMPORAL_TLS=true turns it on"
    )
    assert to_a_plain_server == "it does not speak TLS, which the configuration asks for"


async def test_files_that_cannot_be_used_are_found_before_anything_connects(
    authority: Authority, stranger: Authority, client_pair: Pair, told: Told, tmp_path: Path
) -> None:
    certificate, key = str(client_pair.certificate), str(client_pair.key)
    sealed, other = authority.issue("sealed", password=b"secret"), stranger.issue("other")
    (tmp_path / "empty").touch()
    bundle = tmp_path / "bundle.pem"
    odd = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    bundle.write_bytes(odd + authority.certificate.read_bytes())
    shown, unlocking = "TEMPORAL_TLS_CLIENT_CERT_PATH", "TEMPORAL_TLS_CLIENT_KEY_PATH"

    said = [
        await told("127.0.0.1:1", {shown: certificate}),
        await told("127.0.0.1:1", {unlocking: str(tmp_path / "gone.key")}),
        await told("127.0.0.1:1", {unlocking: str(tmp_path / "empty")}),
        await told("127.0.0.1:1", {unlocking: str(other.key)}),
        await told("127.0.0.1:1", {shown: str(sealed.certificate), unlocking: str(sealed.key)}),
        await told("127.0.0.1:1", {shown: key}),
        await told("127.0.0.1:1", {shown: certificate, unlocking: key, **trusting(authority)}),
        await told("127.0.0.1:1", {"TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(bundle)}),
        await told("127.0.0.1:1", {"TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(tmp_path / "empty")}),
    ]

    assert said == [
        f"unusable: {APART}: set {shown} and {unlocking}, both or neither",
        f"unusable: {UNREADABLE}: No such file or directory: DIR/gone.key",
        "unusable: the client key DIR/empty is no private key in PEM",
        "unusable: the client key DIR/other.key does not belong to the client certificate DIR/client.pem",
        "unusable: the client key DIR/sealed.key is encrypted: only a key without a password can be used",
        "unusable: the client certificate DIR/client.key is no certificate in PEM",
        "Connection refused",
        "Connection refused",
        "unusable: the authority's certificate DIR/empty is no certificate in PEM",
    ]


async def test_an_api_key_is_sent_over_tls_and_one_that_is_refused_is_told(
    server: RealServer, authority: Authority, own: Pair, client_pair: Pair, told: Told
) -> None:
    with ExitStack() as fronts:
        plain = fronts.enter_context(key_front(server.address, key=KEY))
        address = fronts.enter_context(tls_front(plain, own))
        without = await told(address, trusting(authority))
        refused = await told(address, {"TEMPORAL_API_KEY": "another"})
        taken = await told(address, {"TEMPORAL_API_KEY": KEY})

    assert without == (
        "it refuses a client without an API key (Request unauthorized): TEMPORAL_API_KEY holds one"
    )
    assert refused == "it refuses the API key (Request unauthorized)"
    assert taken == "namespace default"


async def test_an_api_key_is_not_sent_in_the_clear(server: RealServer, told: Told) -> None:
    with key_front(server.address, key=KEY) as plain:
        said = await told(plain, {"TEMPORAL_API_KEY": KEY})

    assert said == "it does not speak TLS, which the configuration asks for"


@pytest.mark.slow
async def test_a_worker_and_a_run_of_a_profile_meet_over_mutual_tls_with_a_key(
    server: RealServer, authority: Authority, own: Pair, client_pair: Pair, surefoot: Surefoot, tmp_path: Path
) -> None:
    with ExitStack() as fronts:
        plain = fronts.enter_context(key_front(server.address, key=KEY))
        address = fronts.enter_context(tls_front(plain, own, trusting=authority))
        (tmp_path / "temporal.toml").write_text(
            f'[profile.cloud]\naddress = "{address}"\nnamespace = "default"\napi_key = "{KEY}"\n'
            f'[profile.cloud.tls]\nserver_ca_cert_path = "{authority.certificate}"\n'
            f'client_cert_path = "{client_pair.certificate}"\nclient_key_path = "{client_pair.key}"\n'
        )
        profile = {"TEMPORAL_CONFIG_FILE": str(tmp_path / "temporal.toml"), "TEMPORAL_PROFILE": "cloud"}
        worker = surefoot.start("worker", "--queue", "over-tls", environment=profile)
        worker.until_it_says("over-tls")
        ended = surefoot("run", "Go on.", *MODEL, "--queue", "over-tls", environment=profile)

    assert (ended.exit_code, ended.stdout) == (0, "Done.\n"), ended.stderr


@pytest.mark.slow
def test_commands_tell_a_refusal_with_4_and_an_unusable_file_with_2(
    surefoot: Surefoot, server: RealServer, authority: Authority, own: Pair, client_pair: Pair
) -> None:
    run = ("run", "Go on.", *MODEL, "--address")
    with tls_front(server.address, own, trusting=authority) as address:
        refused = surefoot.refuses(*run, address, exit_code=4, environment=trusting(authority))
        client_pair.key.unlink()
        unusable = surefoot.refuses(*run, address, environment=showing(client_pair))

    assert sure(refused).startswith(f"cannot reach Temporal at {address}: it wants a client certificate")
    assert unusable.endswith("No such file or directory: DIR/client.key")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("run", "Go on.", *MODEL), id="run"),
        pytest.param(("list",), id="list"),
        pytest.param(("worker", "--queue", "nobodys"), id="worker"),
    ],
)
def test_a_key_that_is_refused_only_later_is_4_too(
    surefoot: Surefoot, server: RealServer, arguments: tuple[str, ...]
) -> None:
    environment = {"TEMPORAL_API_KEY": "another", "TEMPORAL_TLS": "false"}
    with key_front(server.address, key=KEY, greets=True) as address:
        told = surefoot.refuses(*arguments, "--address", address, exit_code=4, environment=environment)

    assert told == "Temporal refused: Request unauthorized."


@pytest.mark.slow
def test_a_worker_of_a_namespace_that_is_not_there_is_4(surefoot: Surefoot, server: RealServer) -> None:
    told = surefoot.refuses(
        *("worker", "--queue", "nobodys", "--address", server.address),
        exit_code=4,
        environment={"TEMPORAL_NAMESPACE": "nowhere"},
    )

    assert told == "Temporal refused: Namespace nowhere is not found."
