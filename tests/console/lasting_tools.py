"""Tools that run until a test lets them go, or ends them."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.console.tools_on_disk import write_tool
from tests.workers.real_workers import pid_told_in


class Lingering:
    """A tool that says `begun` and then does nothing for a minute; it is ended with the test.

    Its directory lies in the working directory, as that of a `Gated` does: nowhere else it may write.
    """

    def __init__(self, directory: Path, **fields: object) -> None:
        directory.mkdir(exist_ok=True)
        self._process_id = directory.parent / "process-id"
        write_tool(directory, "linger", f"echo begun; echo $$ > {self._process_id}; exec sleep 60", **fields)

    def has_begun(self) -> bool:
        return self._process_id.exists() and self._process_id.read_text().endswith("\n")

    def end(self) -> None:
        if self.has_begun():
            with suppress(ProcessLookupError):
                os.kill(pid_told_in(self._process_id), signal.SIGKILL)


class Gated:
    """A tool that answers once the test opens the gate."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        self._gate, self._begun = directory.parent / "gate", directory.parent / "begun"
        wait = f"touch {self._begun}; while [ ! -e {self._gate} ]; do sleep 0.05; done; echo true"
        write_tool(directory, "gated", wait, heartbeatSeconds=2)

    def has_begun(self) -> bool:
        return self._begun.exists()

    def open(self) -> None:
        self._gate.touch()
