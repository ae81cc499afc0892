import subprocess

import pytest

from tests.console.command import MODEL, SUREFOOT, Ended, Surefoot

pytestmark = pytest.mark.slow


def in_a_shell(surefoot: Surefoot, redirection: str, *arguments: str) -> Ended:
    """Run the command as a shell does with this behind it."""
    ended = subprocess.run(
        ["/bin/bash", "-c", f'set -o pipefail; "$0" "$@" {redirection}', SUREFOOT, *arguments],
        cwd=surefoot.directory,
        env=surefoot.environment,
        capture_output=True,
        timeout=30,
        text=True,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.parametrize(
    ("redirection", "exit_code"),
    [
        pytest.param("<&-", 0, id="no stdin"),
        pytest.param("2>&-", 0, id="no stderr"),
        pytest.param(">&-", 0, id="no stdout"),
        pytest.param("2>/dev/full", 1, id="a disk that is full"),
    ],
)
def test_a_run_does_with_the_streams_that_it_has(
    surefoot: Surefoot, redirection: str, exit_code: int
) -> None:
    ended = in_a_shell(surefoot, redirection, "run", "Go on.", *MODEL)

    assert (ended.exit_code, "Traceback" in ended.stderr) == (exit_code, False)


def test_a_disk_that_is_full_is_one_sentence(surefoot: Surefoot) -> None:
    ended = in_a_shell(surefoot, ">/dev/full", "run", "Go on.", *MODEL, "-o", "jsonl")

    assert (ended.exit_code, ended.stderr) == (
        1,
        "surefoot: what was to be printed is lost: No space left on device\n",
    )


def test_a_reader_who_leaves_is_told_that_the_run_goes_on(surefoot: Surefoot) -> None:
    ended = in_a_shell(surefoot, "| head -n 1", "run", "Go on.", *MODEL, "-o", "jsonl")

    told = "nobody reads the output any more; the run goes on with `surefoot dev`, or where it is served"
    assert (ended.exit_code, len(ended.events), ended.stderr) == (130, 1, f"surefoot: {told}\n")
