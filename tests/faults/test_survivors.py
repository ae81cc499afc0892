import secrets
import subprocess
from collections.abc import Generator
from datetime import timedelta

import pytest

from tests.faults.survivors import survivors
from workers.waiting import until


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
async def test_a_process_is_found_by_its_environment_or_by_its_arguments(workflow_id: str) -> None:
    # Until it has become the command that it was started for, a process is nobody's.
    found = await until(lambda: _both(survivors(workflow_id)), within=timedelta(seconds=10))
    assert ["sleep 60" in " ".join(found), f"sh -c read line {workflow_id}/3-1" in found] == [True, True]


def _both(found: dict[str, list[str]]) -> list[str] | None:
    commands = found.get("3-1", [])
    return commands if len(commands) == 2 else None


@pytest.mark.usefixtures("left_behind")
def test_calls_of_other_runs_are_not_meant(workflow_id: str) -> None:
    assert survivors(workflow_id[:-1]) == {}
