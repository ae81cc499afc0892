import socket
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conftest import RealServer
from workers.connection import TemporalUnreachableError, configured_address, connect
from workers.settings import SettingsError
from workflows.converter import DATA_CONVERTER


@pytest.fixture(autouse=True)
def configuration_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_PROFILE", "TEMPORAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "temporal.toml"))
    return tmp_path / "temporal.toml"


@pytest.fixture
def silent_port() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


async def test_an_address_is_connected_to_with_the_namespace_of_the_environment(
    server: RealServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "elsewhere")

    assert (await connect(server.address, DATA_CONVERTER)).namespace == "elsewhere"


def test_no_address_anywhere_means_the_embedded_server() -> None:
    assert configured_address() is None


def test_a_profile_names_the_server(configuration_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration_file.write_text('[profile.cloud]\naddress = "cloud.example:7233"\n')
    monkeypatch.setenv("TEMPORAL_PROFILE", "cloud")

    assert configured_address() == "cloud.example:7233"


def test_an_address_that_is_passed_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "cloud.example:7233")

    assert configured_address("127.0.0.1:7233") == "127.0.0.1:7233"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        pytest.param("localhost", "an address is written host:port", id="no port"),
        pytest.param("http://localhost:7233", "an address is written host:port", id="a URL"),
        pytest.param("a b:7233", "an address is written host:port", id="a space"),
        pytest.param("127.0.0.1:99999", "invalid target URL: invalid port number", id="no such port"),
        pytest.param("127.0.0.1:1", "Connection refused", id="nobody listens"),
        pytest.param("[::1]:1", "Connection refused", id="nobody listens, IPv6"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_one_sentence_at_once(
    address: str, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TemporalUnreachableError) as caught:
        await connect(address, DATA_CONVERTER)

    assert str(caught.value) == f"cannot reach Temporal at {address}: {reason}"
    assert capfd.readouterr() == ("", "")


async def test_a_server_that_listens_and_never_answers_is_given_up_in_seconds(silent_port: int) -> None:
    begin = time.monotonic()

    with pytest.raises(TemporalUnreachableError, match="no answer within 5 seconds"):
        await connect(f"127.0.0.1:{silent_port}", DATA_CONVERTER)

    assert time.monotonic() - begin < 7


@pytest.mark.parametrize(
    ("profile", "file", "reason"),
    [
        pytest.param("cloud", "", "Profile 'cloud' not found", id="no such profile"),
        pytest.param("default", "not toml", "TOML parse error at line 1", id="a file that is not TOML"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_one_sentence(
    configuration_file: Path, monkeypatch: pytest.MonkeyPatch, profile: str, file: str, reason: str
) -> None:
    configuration_file.write_text(file)
    monkeypatch.setenv("TEMPORAL_PROFILE", profile)

    with pytest.raises(SettingsError) as caught:
        configured_address()

    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_certificate_that_cannot_be_read_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", "/nowhere/certificate.pem")

    with pytest.raises(SettingsError, match=r"No such file or directory: /nowhere/certificate.pem"):
        await connect("127.0.0.1:1", DATA_CONVERTER)
