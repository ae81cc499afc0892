import os
import signal
import subprocess
from pathlib import Path

from tests.console.command import SUREFOOT

LOADING = """
import time
print("loading", flush=True)
time.sleep(60)
"""


def test_ctrl_c_while_the_command_loads_is_130_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(LOADING)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = subprocess.Popen(
        [SUREFOOT, "doctor"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What starts tests may ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert command.stdout is not None
    loading = command.stdout.readline()
    command.send_signal(signal.SIGINT)
    _, complaint = command.communicate(timeout=20)

    assert (loading, command.returncode, complaint) == ("loading\n", 130, "")
