"""What one attack is carried out on: files, sockets and a process with secrets, all of its own."""

import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.activities.tools.disk_tools import write_tool
from tests.attacks.attack import Attack
from tests.attacks.listeners import Listeners, listeners
from tests.attacks.shared import kernel_key, shared_file, shared_memory
from tests.attacks.terminal import Terminal
from tests.attacks.victim import Victim, victim

TOOL = "attack"
KEY = "SUREFOOT_ATTACKED_KEY"
"""A variable of the worker's environment, whose value no tool may learn; it is in its memory as well."""

_ANOTHER_USER = 54_321


@dataclass(frozen=True)
class Scene:
    """Where everything is, and what became of it."""

    directory: Path
    attack: Attack
    secret: str
    """What is in every place that no tool may read."""
    mark: str
    """What is in the command line of everything that the attack starts, and names what is only its own."""
    victim: Victim
    listeners: Listeners
    terminal: Terminal
    segment: int

    @property
    def home(self) -> Path:
        """The home directory of the worker's user."""
        return self.directory / "home"

    @property
    def work(self) -> Path:
        """The working directory of the call."""
        return self.directory / "work"

    @property
    def tools(self) -> Path:
        """Where the attack itself lies, with its manifest."""
        return self.directory / self.attack.tools

    @property
    def state(self) -> Path:
        """What the worker keeps for itself."""
        return self.directory / self.attack.state

    @property
    def outside(self) -> Path:
        """Another directory of the user's."""
        return self.directory / "outside"

    @property
    def params(self) -> dict[str, object]:
        """What the tool is told, so that nothing is safe because it is not found."""
        places = {name: str(getattr(self, name)) for name in ("home", "work", "tools", "state", "outside")}
        return {
            **places,
            **self.listeners.params,
            "mark": self.mark,
            "victim": self.victim.id,
            "worker": os.getpid(),
            "terminal": self.terminal.name,
            "shared_memory": self.segment,
        }

    def holds_secret(self, reached: object) -> bool:
        """Say whether a secret of this scene, or the worker's key, is in there."""
        return self.secret in str(reached) or os.environ[KEY] in str(reached)

    def changed(self, file: Path) -> bool:
        """Say whether this file, which held the secret, does not any more."""
        return not file.exists() or file.read_text() != self.secret

    def survivors(self) -> list[int]:
        """Give who lives of all that the attack has started."""
        processes = [directory for directory in Path("/proc").iterdir() if directory.name.isdigit()]
        return [int(process.name) for process in processes if self._is_its(process)]

    def _is_its(self, process: Path) -> bool:
        try:
            return self.mark.encode() in (process / "cmdline").read_bytes()
        except OSError:
            return False


@contextmanager
def scene(directory: Path, attack: Attack, terminal: Terminal) -> Generator[Scene]:
    """Set everything up for one attack, and clear it away."""
    secret, mark = f"secret-{secrets.token_hex(12)}", f"surefoot-attack-{secrets.token_hex(6)}"
    with ExitStack() as afterwards:
        _write_files(directory, secret, attack)
        afterwards.callback(shutil.rmtree, directory)
        afterwards.enter_context(shared_file(mark, secret))
        afterwards.enter_context(kernel_key(mark, secret))
        _leave_open(directory / "outside" / "file", afterwards)
        here = Scene(
            directory,
            attack,
            secret,
            mark,
            afterwards.enter_context(victim(secret)),
            afterwards.enter_context(listeners(directory)),
            terminal,
            afterwards.enter_context(shared_memory(secret)),
        )
        afterwards.enter_context(here.listeners.caller.calling())
        afterwards.callback(_end, here)
        terminal.clear()
        yield here


def _write_files(directory: Path, secret: str, attack: Attack) -> None:
    for name in (
        *("home/.ssh/id_ed25519", "home/.aws/credentials", "home/.netrc", "home/.config/gh/hosts.yml"),
        *("home/.cargo/bin/program", "home/.cargo/credentials.toml"),
        *("home/.local/bin/program", "home/.local/share/keyrings/login.keyring"),
        *("outside/file", "work/file", "work/of-another-user", f"{attack.state}/queues/run.json"),
    ):
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(secret if name != "work/file" else "")
    for name in ("outside/program", "home/.ssh/agent"):
        (directory / name).touch(mode=0o755)
    program = Path(shutil.copy("/bin/cat", directory / "work" / "cat"))
    if os.geteuid() == 0:
        theirs = directory / "work" / "of-another-user"
        os.chown(theirs, _ANOTHER_USER, _ANOTHER_USER)
        theirs.chmod(0o600)
        program.chmod(0o4755)
    tools = directory / attack.tools
    tools.parent.mkdir(parents=True, exist_ok=True)
    write_tool(tools, TOOL, attack.script(sys.executable), mode=0o755, **attack.manifest)


def _leave_open(file: Path, afterwards: ExitStack) -> None:
    # As a library would that knows nothing of child processes.
    descriptor = os.open(file, os.O_RDONLY)
    afterwards.callback(os.close, descriptor)
    os.set_inheritable(descriptor, True)


def _end(here: Scene) -> None:
    deadline = time.monotonic() + 10
    while (alive := here.survivors()) and time.monotonic() < deadline:
        for process in alive:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)
