import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from workers.served_queues import DamagedQueueError, QueueInUseError, ServedQueue, ServedQueues
from workers.settings import Settings

CLAIMER = """
import sys
from pathlib import Path
from workers.served_queues import ServedQueues
claim = ServedQueues(Path(sys.argv[1])).claim(sys.argv[2])
print("claimed" if claim else "refused", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def queues(tmp_path: Path) -> ServedQueues:
    return ServedQueues.of(Settings(state_directory=tmp_path))


def served(queue: str = "run-1") -> ServedQueue:
    return ServedQueue(
        queue=queue,
        workflow_id="count the files/1",
        tool_directories=("/home/ada/tools", "builtin"),
        working_directory=Path("/home/ada/project"),
        protocol="prompted",
    )


def claimer(queues: ServedQueues, queue: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIMER, str(queues.directory), queue],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, process.stdout.readline().strip()


def test_a_remembered_queue_is_listed_as_it_was_given(queues: ServedQueues) -> None:
    queues.remember(served("run-2"))
    queues.remember(served("run-1"))

    assert queues.listing().queues == (served("run-1"), served("run-2"))


def test_whoever_remembers_a_queue_is_the_one_that_serves_it(queues: ServedQueues) -> None:
    queues.remember(served())

    assert queues.claim("run-1") is None


def test_a_released_queue_can_be_claimed_as_it_was_remembered(queues: ServedQueues) -> None:
    queues.remember(served()).release()

    claim = queues.claim("run-1")

    assert claim
    assert claim.served == served()


def test_a_queue_that_is_served_cannot_be_remembered_anew(queues: ServedQueues) -> None:
    queues.remember(served())

    with pytest.raises(QueueInUseError, match="run-1 is already served"):
        queues.remember(served())


def test_a_forgotten_queue_leaves_nothing(queues: ServedQueues) -> None:
    queues.remember(served()).forget()

    assert queues.claim("run-1") is None
    assert list(queues.directory.iterdir()) == []


def test_a_queue_of_another_process_is_free_once_that_was_killed(queues: ServedQueues) -> None:
    queues.remember(served()).release()
    process, said = claimer(queues, "run-1")
    before = queues.claim("run-1")

    process.kill()
    process.communicate()

    assert (said, before) == ("claimed", None)
    assert queues.claim("run-1") is not None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param("", "Invalid JSON: EOF while parsing", id="empty"),
        pytest.param('{"queue": "run-1"}', "workflow_id.Field required", id="a field is missing"),
        pytest.param(served("run-9").model_dump_json(), "it describes the queue run-9", id="another queue"),
    ],
)
def test_a_damaged_file_is_reported_beside_the_good_ones(
    queues: ServedQueues, content: str, reason: str
) -> None:
    queues.remember(served("run-2"))
    (queues.directory / "run-1.json").write_text(content)

    listing = queues.listing()

    assert listing.queues == (served("run-2"),)
    assert [str(error).partition(reason)[0] for error in listing.damaged] == [
        f"{queues.directory / 'run-1.json'} cannot be read: "
    ]


def test_a_damaged_queue_can_be_claimed_once_it_is_mended(queues: ServedQueues) -> None:
    path = queues.directory / "run-1.json"
    path.write_text("{")
    with pytest.raises(DamagedQueueError):
        queues.claim("run-1")

    path.write_text(served().model_dump_json())

    assert queues.claim("run-1") is not None


def test_a_file_with_fields_of_a_later_version_is_read(queues: ServedQueues) -> None:
    fields = {**json.loads(served().model_dump_json()), "colour": "blue"}
    (queues.directory / "run-1.json").write_text(json.dumps(fields))

    assert queues.listing().queues == (served(),)


@pytest.mark.parametrize("queue", ["", ".", "../run", "a/b", "a b", "x" * 201, "run\n"])
def test_a_queue_that_is_no_file_name_is_refused(queue: str) -> None:
    with pytest.raises(ValidationError):
        served(queue)
