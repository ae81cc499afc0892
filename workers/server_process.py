"""The process of the embedded server: launched, found again by any command, and stopped.

It belongs to no command. Its own command line, which names the database, is the only record of it, so
there is none that could be stale, and no signal reaches a process that merely got its number.
"""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from workers.process_table import command_line, command_lines
from workers.server_ports import HOST, ServerPorts
from workers.state_directory import StateDirectory
from workers.tuning import dynamic_configuration_flags
from workers.waiting import until

KEPT_VARIABLES = ("TMPDIR", "TZ")
STOPPING = ((signal.SIGTERM, timedelta(seconds=10)), (signal.SIGKILL, timedelta(seconds=5)))
LAUNCHED_WITHIN = timedelta(seconds=5)

_CODEC = f"http://{HOST}:"

SHELL = "/bin/sh"
# The shell leaves at once, so that the server is nobody's child and waits for nobody to notice its end.
LAUNCH = '"$0" "$@" >&2 & echo $!'


@dataclass(frozen=True)
class ServerProcess:
    """One server on one database, running or gone."""

    process_id: int
    database: Path
    ports: ServerPorts

    def is_gone(self) -> bool:
        """Tell whether this server has ended and let go of its ports."""
        command = command_line(self.process_id)
        return command is None or (command != "" and not self._is(command))

    def _is(self, command: str | None) -> bool:
        return _server_in(command, self.process_id, self.database) == self

    def send(self, signal_number: signal.Signals) -> None:
        """Signal the server, or nobody if it is gone."""
        try:
            handle = os.pidfd_open(self.process_id) if hasattr(os, "pidfd_open") else None
        except ProcessLookupError:
            return
        try:
            # Looked at after opening: the handle stays with the process that was looked at.
            if not self._is(command_line(self.process_id)):
                return
            if handle is None:
                os.kill(self.process_id, signal_number)
            else:
                signal.pidfd_send_signal(handle, signal_number)
        except ProcessLookupError:
            return
        finally:
            if handle is not None:
                os.close(handle)

    async def stop(self) -> None:
        """End the server, by force when it takes too long; raises TimeoutError when even that fails."""
        for signal_number, patience in STOPPING:
            self.send(signal_number)
            try:
                await until(self.is_gone, within=patience)
            except TimeoutError:
                continue
            return
        raise TimeoutError(f"the server, process {self.process_id}, does not end")


def find_server(database: Path) -> ServerProcess | None:
    """Give the server that runs on the database, whoever launched it."""
    servers = (_server_in(command, process_id, database) for process_id, command in command_lines())
    return next((server for server in servers if server), None)


async def launch_server(binary: Path, state: StateDirectory, ports: ServerPorts) -> ServerProcess:
    """Start a server in a session of its own, out of reach of this terminal; it may be gone already."""
    process_id = _spawn(binary, state, ports)
    await until(lambda: not _is_launching(command_line(process_id)), within=LAUNCHED_WITHIN)
    return ServerProcess(process_id, state.database, ports)


def _spawn(binary: Path, state: StateDirectory, ports: ServerPorts) -> int:
    if state.server_log.exists():
        state.server_log.replace(state.server_log_before)
    with state.server_log.open("wb") as log:
        shell = subprocess.run(
            [SHELL, "-c", LAUNCH, str(binary), *_arguments(state.database, ports)],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
            check=True,
        )
    return int(shell.stdout)


def _arguments(database: Path, ports: ServerPorts) -> Iterator[str]:
    yield from ("server", "start-dev", "--db-filename", str(database), "--ip", HOST)
    yield from ("--port", str(ports.port), "--ui-port", str(ports.ui_port))
    if ports.codec_port is not None:
        yield from ("--ui-codec-endpoint", f"{_CODEC}{ports.codec_port}")
    yield from ("--log-level", "warn")
    yield from dynamic_configuration_flags()


def _is_launching(command: str | None) -> bool:
    # On its way from the shell to the server the process shows no command line for a moment.
    return command is not None and (not command or command.startswith(f"{SHELL} -c "))


def _server_in(command: str | None, process_id: int, database: Path) -> ServerProcess | None:
    if command is None or _is_launching(command):
        return None
    start = f" server start-dev --db-filename {re.escape(str(database))} "
    codec = rf"(?:--ui-codec-endpoint {re.escape(_CODEC)}(\d+) )?"
    found = re.fullmatch(rf".*{start}--ip \S+ --port (\d+) --ui-port (\d+) {codec}.*", command, re.DOTALL)
    if found is None:
        return None
    ports = ServerPorts(
        port=int(found[1]), ui_port=int(found[2]), codec_port=int(found[3]) if found[3] else None
    )
    return ServerProcess(process_id, database, ports)
