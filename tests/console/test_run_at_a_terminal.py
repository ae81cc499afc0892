import os
import pty
import select
import signal
import subprocess
import time
from contextlib import closing

import pytest

from tests.console.command import MODEL, SUREFOOT, Surefoot

pytestmark = pytest.mark.slow


class Terminal:
    """A command with a terminal of its own."""

    def __init__(self, surefoot: Surefoot, *arguments: str) -> None:
        self._keyboard, screen = pty.openpty()
        self.process = subprocess.Popen(
            [SUREFOOT, *arguments],
            stdin=screen,
            stdout=screen,
            stderr=screen,
            cwd=surefoot.directory,
            env={**surefoot.environment, "TERM": "xterm"},
            start_new_session=True,
        )
        os.close(screen)
        self.shown = ""

    def until_it_shows(self, text: str, *, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            self._read()

    def press(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    def ends(self, *, seconds: float = 30) -> int:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.shown
            self._read()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=10)
        os.close(self._keyboard)

    def _read(self) -> None:
        ready, _, _ = select.select([self._keyboard], [], [], 0.1)
        if ready:
            try:
                self.shown += os.read(self._keyboard, 65_536).decode(errors="replace")
            except OSError:
                # Linux says so when nobody is left at the other end.
                self.process.wait(timeout=10)


def test_the_ui_stays_up_until_enter(surefoot_alone: Surefoot) -> None:
    with closing(Terminal(surefoot_alone, "run", "Go on.", *MODEL, "--stay")) as terminal:
        terminal.until_it_shows("The UI stays up until you press Enter.")
        server_meanwhile = surefoot_alone.server()
        terminal.press("\n")
        exit_code = terminal.ends()

    assert server_meanwhile is not None
    assert (exit_code, surefoot_alone.server()) == (0, None)
    assert "Done." in terminal.shown


def test_the_ui_stays_up_until_ctrl_c(surefoot_alone: Surefoot) -> None:
    with closing(Terminal(surefoot_alone, "run", "Go on.", *MODEL, "--stay")) as terminal:
        terminal.until_it_shows("The UI stays up until you press Enter.")
        os.killpg(terminal.process.pid, signal.SIGINT)
        exit_code = terminal.ends(seconds=10)

    assert (exit_code, surefoot_alone.server()) == (0, None)


def test_without_stay_it_is_said_how_to_see_the_run_again(surefoot_alone: Surefoot) -> None:
    with closing(Terminal(surefoot_alone, "run", "Go on.", *MODEL)) as terminal:
        exit_code = terminal.ends()

    assert exit_code == 0
    assert "`surefoot dev` shows the run again" in terminal.shown
