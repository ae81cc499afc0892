import secrets
import subprocess
from collections.abc import Generator

import pytest

from tests.faults.survivors import survivors


@pytest.fixture
def workflow_id() -> str:
    return f"run-{secrets.token_hex(4)}"


@pytest.fixture
def left_behind(workflow_id: str) -> Generator[None]:
    call = f"{workflow_id}/3-1"
    commands = [
        subprocess.Popen(["setsid", "sleep", "60"], env={"SUREFOOT_CALL_ID": call}),
        subprocess.Popen(["sh", "-c", "read line", call], env={}, stdin=subprocess.PIPE),
    ]
    yield
    for command in commands:
        command.kill()
        command.communicate()


@pytest.mark.usefixtures("left_behind")
def test_a_process_is_found_by_its_environment_or_by_its_arguments(workflow_id: str) -> None:
    found = survivors(workflow_id)["3-1"]
    assert ["sleep 60" in " ".join(found), f"sh -c read line {workflow_id}/3-1" in found] == [True, True]


@pytest.mark.usefixtures("left_behind")
def test_calls_of_other_runs_are_not_meant(workflow_id: str) -> None:
    assert survivors(workflow_id[:-1]) == {}
