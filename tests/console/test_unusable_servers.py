import socket
from collections.abc import Mapping

import pytest
from temporalio.client import Client

from tests.conftest import RealServer
from tests.console.command import MODEL, ROOT, Surefoot


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        pytest.param(
            {"SUREFOOT_MAX_CONCURRENT_ACTIVITIES": "many"},
            "SUREFOOT_MAX_CONCURRENT_ACTIVITIES is 'many': Input should be a valid integer, unable to parse "
            "string as an integer",
            id="a setting that is no number",
        ),
        pytest.param(
            {"SUREFOOT_STATE_DIRECTORY": f"{ROOT}/README.md"},
            f"cannot use the state directory {ROOT}/README.md: {ROOT}/README.md is a file",
            id="a state directory that is a file",
        ),
        pytest.param(
            {"SUREFOOT_STATE_DIRECTORY": "/proc/state"},
            "cannot use the state directory /proc/state: No such file or directory",
            id="a state directory that cannot be written",
        ),
        pytest.param(
            {"TEMPORAL_PROFILE": "nowhere"},
            "Temporal's configuration cannot be read: Profile 'nowhere' not found",
            id="an unknown profile of Temporal's",
        ),
    ],
)
def test_an_environment_that_cannot_be_used_is_one_sentence(
    usable: Surefoot, environment: Mapping[str, str], sentence: str
) -> None:
    assert usable.refuses("run", "Go on.", *MODEL, environment=environment) == sentence


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        pytest.param("127.0.0.1:1", "Connection refused", id="nothing listens"),
        pytest.param("localhost", "an address is written host:port", id="no port"),
    ],
)
def test_a_server_that_cannot_be_reached_is_4(usable: Surefoot, address: str, reason: str) -> None:
    sentence = f"cannot reach Temporal at {address}: {reason}"

    assert usable.refuses("run", "Go on.", *MODEL, "--address", address, exit_code=4) == sentence


def test_a_server_without_the_namespace_is_4(usable: Surefoot, server: RealServer) -> None:
    arguments = ("run", "Go on.", *MODEL, "--address", server.address)

    sentence = usable.refuses(*arguments, exit_code=4, environment={"TEMPORAL_NAMESPACE": "nowhere"})

    assert sentence.startswith("Temporal refused: ")
    assert "nowhere" in sentence


def test_a_port_that_is_taken_starts_no_server(usable: Surefoot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        sentence = usable.refuses("dev", "--port", str(port))

    assert sentence == f"port {port} cannot be used: Address already in use"


async def test_an_id_of_a_run_that_is_open_is_refused(surefoot: Surefoot, client: Client) -> None:
    await client.start_workflow("any", id="still-open", task_queue="nobody")
    remembered = set((surefoot.state / "queues").glob("*.json"))

    ended = surefoot("run", "Go on.", *MODEL, "--workflow-id", "still-open")
    await client.get_workflow_handle("still-open").terminate()

    sentence = "a run with the id 'still-open' has not ended; choose another --workflow-id"
    assert (ended.exit_code, ended.stdout, ended.stderr) == (2, "", f"surefoot: {sentence}\n")
    assert set((surefoot.state / "queues").glob("*.json")) == remembered
