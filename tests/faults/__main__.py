"""Runs the whole suite at every level of the sandbox that this machine offers: a table for each."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from activities.tools.sandbox.level import LEVELS, Level
from activities.tools.sandbox.probe import levels, why_not

_HERE = Path(__file__).parent


def main(arguments: Sequence[str]) -> int:
    """Run pytest with these further arguments once a level; gives 0 if all of it passed at every one."""
    exit_codes: list[int] = []
    ends: list[str] = []
    for level in LEVELS:
        if level not in levels():
            ends.append(f"{level}: not offered by this machine: {why_not(level)}")
            continue
        began = time.monotonic()
        exit_codes.append(_run(level, arguments))
        end = "failed" if exit_codes[-1] else "passed"
        ends.append(f"{level}: {end} in {time.monotonic() - began:.0f} s")
    sys.stdout.write("\n".join(["", *ends, ""]))
    return max(exit_codes)


def _run(level: Level, arguments: Sequence[str]) -> int:
    sys.stdout.write(f"\nThe fault suite at the level {level}\n")
    sys.stdout.flush()
    # What that file does at the levels around the suite's own is done here at each as the suite's own.
    others = f"--ignore={_HERE / 'test_other_levels.py'}"
    pytest = [sys.executable, "-m", "pytest", "--slow", "--long", str(_HERE), others]
    return subprocess.run([*pytest, *arguments], env={**os.environ, "SUREFOOT_SANDBOX": level}).returncode


sys.exit(main(sys.argv[1:]))
