"""What a shell makes of an example, as a reader would paste it."""

import os
import subprocess
import sysconfig
from pathlib import Path

from tests.console.command import Ended


def carry_out(example: str, *, directory: Path, state: Path, **environment: str) -> Ended:
    """Run an example, with our commands on the PATH and the state of its servers below `state`."""
    ended = subprocess.run(
        ["sh", "-ec", example],
        cwd=directory,
        env={
            **os.environ,
            **environment,
            "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}",
            "XDG_STATE_HOME": str(state),
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)
