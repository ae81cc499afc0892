import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from workers.file_lock import lock, try_lock

HOLDER = """
import sys
from pathlib import Path
from workers.file_lock import try_lock
held = try_lock(Path(sys.argv[1]))
print("held" if held else "refused", flush=True)
sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.parametrize(
    ("first_is_shared", "second_is_shared", "granted"),
    [
        pytest.param(False, False, False, id="two exclusive ones"),
        pytest.param(False, True, False, id="exclusive, then shared"),
        pytest.param(True, False, False, id="shared, then exclusive"),
        pytest.param(True, True, True, id="two shared ones"),
    ],
)
def test_only_shared_holders_get_along(
    tmp_path: Path, first_is_shared: bool, second_is_shared: bool, granted: bool
) -> None:
    first = try_lock(tmp_path / "lock", shared=first_is_shared)
    second = try_lock(tmp_path / "lock", shared=second_is_shared)

    assert (first is not None, second is not None) == (True, granted)


def test_a_released_lock_is_free_even_when_released_twice(tmp_path: Path) -> None:
    first = try_lock(tmp_path / "lock")
    assert first
    first.release()
    second = try_lock(tmp_path / "lock")
    first.release()

    assert second
    assert try_lock(tmp_path / "lock") is None


def test_a_lock_whose_file_was_removed_excludes_nobody_from_the_new_file(tmp_path: Path) -> None:
    old = try_lock(tmp_path / "lock")
    assert old
    old.release_and_remove()

    assert (tmp_path / "lock").exists() is False
    assert try_lock(tmp_path / "lock") is not None


async def test_the_kernel_drops_the_lock_of_a_killed_holder(tmp_path: Path) -> None:
    process = holder(tmp_path / "lock")
    assert try_lock(tmp_path / "lock") is None

    process.kill()
    process.communicate()

    assert await lock(tmp_path / "lock", within=timedelta(seconds=5))


def test_an_executable_started_while_a_lock_is_held_does_not_hold_it(tmp_path: Path) -> None:
    held = try_lock(tmp_path / "lock")
    assert held
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        held.release()
        taken = try_lock(tmp_path / "lock")
        child.kill()

    assert taken is not None


async def test_waiting_for_a_lock_ends_in_time(tmp_path: Path) -> None:
    held = try_lock(tmp_path / "lock")
    assert held

    with pytest.raises(TimeoutError):
        await lock(tmp_path / "lock", within=timedelta(seconds=0.1))
