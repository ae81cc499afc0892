"""The `surefoot` command as a process of its own, with nothing of this process's environment."""

import asyncio
import json
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from temporalio.client import Client

from surefoot.run import RunResult
from tests.console.forked_process import ForkedProcess
from workers.server_process import ServerProcess, find_server
from workflows.converter import DATA_CONVERTER

SUREFOOT = Path(sysconfig.get_path("scripts")) / "surefoot"
ROOT = Path(__file__).parents[2]

DONE = "done.yaml"
"""A script in the directory of every test: the model says `Done.` and nothing else."""
MODEL = ("--model", f"scripted:{DONE}")

PATIENCE_SECONDS = 30
CHECK_SECONDS = 0.02

Found = TypeVar("Found")


@dataclass(frozen=True)
class Ended:
    """What a command left behind; killed by signal n, its exit code is -n."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    def event(self, kind: str) -> dict[str, Any]:
        (only,) = [event for event in self.events if event["type"] == kind]
        return only


class Command:
    """One command from its start on; what it prints goes to files."""

    def __init__(
        self, arguments: tuple[str, ...], *, printed: Path, directory: Path, environment: Mapping[str, str]
    ) -> None:
        self._stdout, self._stderr = printed.with_suffix(".stdout"), printed.with_suffix(".stderr")
        with self._stdout.open("wb") as stdout, self._stderr.open("wb") as stderr:
            self._process = ForkedProcess(
                arguments, stdout=stdout, stderr=stderr, cwd=directory, env=environment
            )

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def stdout(self) -> str:
        return self._stdout.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        return self._stderr.read_text(errors="replace")

    def until(self, look: Callable[[], Found | None], *, seconds: float = PATIENCE_SECONDS) -> Found:
        """Wait for something to be true while the command runs, and give it."""
        deadline = time.monotonic() + seconds
        while True:
            if found := look():
                return found
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(
                    f"it did not come to pass; the command said:\n{self.stdout}{self.stderr}"
                )
            time.sleep(CHECK_SECONDS)

    def until_it_says(self, text: str, *, seconds: float = PATIENCE_SECONDS) -> None:
        self.until(lambda: text in self.stdout or text in self.stderr, seconds=seconds)

    def until_printed(self, kind: str) -> dict[str, Any]:
        """Wait for the first event of a kind, and give it."""
        return self.until(
            lambda: next(
                (
                    json.loads(line)
                    for line in self.stdout.splitlines(keepends=True)
                    if line.endswith("\n") and f'"type": "{kind}"' in line
                ),
                None,
            )
        )

    def ends(self, *, stdin: bytes = b"", seconds: float = PATIENCE_SECONDS) -> Ended:
        """Wait for its end."""
        try:
            self._process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end; it said:\n{self.stdout}{self.stderr}") from None
        return Ended(self._process.returncode or 0, self.stdout, self.stderr)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it as a power cut would, and everything in its group."""
        if self._process.poll() is None:
            # It may have ended since.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class Surefoot:
    """Starts commands that share a state directory, and leaves nothing of them behind."""

    def __init__(self, directory: Path, *, state_home: Path) -> None:
        self.directory = directory
        self.state = state_home / "surefoot"
        self.environment = {
            "PATH": os.environ["PATH"],
            # To run the tests at another level than the strongest.
            **{name: os.environ[name] for name in ("SUREFOOT_SANDBOX",) if name in os.environ},
            "HOME": str(directory),
            "LANG": "C.UTF-8",
            "XDG_STATE_HOME": str(state_home),
        }
        self._started: list[Command] = []
        (directory / DONE).write_text("steps: [{say: Done.}]\n")

    def start(
        self, *arguments: object, environment: Mapping[str, str] | None = None, directory: Path | None = None
    ) -> Command:
        """Start a command in the directory, by default the test's own."""
        command = Command(
            tuple(map(str, arguments)),
            printed=self.directory / f"command-{len(self._started)}",
            directory=directory or self.directory,
            environment={**self.environment, **(environment or {})},
        )
        self._started.append(command)
        return command

    def __call__(
        self,
        *arguments: object,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> Ended:
        """Run a command to its end."""
        return self.start(*arguments, environment=environment, directory=directory).ends(stdin=stdin)

    def refuses(
        self, *arguments: object, exit_code: int = 2, environment: Mapping[str, str] | None = None
    ) -> str:
        """Run a command that says one sentence and starts nothing; the directory stands in it as DIR."""
        ended = self(*arguments, environment=environment)
        sentence = ended.stderr.removeprefix("surefoot: ").removesuffix("\n")
        assert (ended.exit_code, ended.stdout, self.server()) == (exit_code, "", None), ended.stderr
        assert ended.stderr == f"surefoot: {sentence}\n"
        assert "\n" not in sentence
        return sentence.replace(str(self.directory), "DIR")

    def server(self) -> ServerProcess | None:
        """Give the embedded server of the state directory, if one runs."""
        return find_server(self.state / "temporal.db")

    async def client(self) -> Client:
        """Connect to the embedded server of the state directory, once it answers."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                server = self.server()
                try:
                    address = f"127.0.0.1:{server.ports.port if server else 1}"
                    return await Client.connect(address, data_converter=DATA_CONVERTER)
                except RuntimeError:
                    await asyncio.sleep(CHECK_SECONDS)

    async def result(self, workflow_id: str) -> RunResult:
        """Wait for the result of a run on that server."""
        run = (await self.client()).get_workflow_handle(workflow_id, result_type=RunResult)
        return await asyncio.wait_for(run.result(), PATIENCE_SECONDS)

    def remembered_queues(self) -> list[str]:
        """Name the queues of runs that have not ended, as the state directory knows them."""
        return sorted(file.stem for file in (self.state / "queues").glob("*.json"))

    def kill_server(self) -> None:
        """End the embedded server as a power cut would."""
        server = self.server()
        if server is None:
            return
        server.send(signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not server.is_gone() and time.monotonic() < deadline:
            time.sleep(CHECK_SECONDS)

    def clean_up(self) -> None:
        for command in self._started:
            command.kill()
