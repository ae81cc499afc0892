"""What of our own processes others can read, who may be a tool's."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import RealServer
from workers.server_process import KEPT_VARIABLES, find_server

GET_DUMPABLE = """import ctypes
from workers.own_memory import keep_to_itself
keep_to_itself()
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_a_process_that_keeps_to_itself_is_not_dumpable() -> None:
    said = subprocess.run([sys.executable, "-c", GET_DUMPABLE], capture_output=True, check=True, text=True)
    assert said.stdout == "0\n"


def test_the_embedded_server_is_given_nothing_of_our_environment(server: RealServer) -> None:
    running = find_server(server.state_directory / "temporal.db")
    assert running is not None
    entries = Path(f"/proc/{running.process_id}/environ").read_text().split("\0")
    # What the shell that launches it sets.
    assert {entry.partition("=")[0] for entry in entries if entry} <= {*KEPT_VARIABLES, "PWD", "OLDPWD", "_"}
