"""The attacks as a table: what each level of the sandbox holds."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.carrying_out import Walls
from tests.attacks.scene import KEY

_PATIENCE_SECONDS = 200
# Not in /tmp, which a tool at the strongest level has for itself: what lies there would be safe by chance.
_PLACE = "/var/tmp"


@dataclass(frozen=True)
class Seen:
    """What came of one attack."""

    verdict: str
    """held, LEAKS, impossible (on this machine) or broken (it did not run)."""
    note: str


def attacked(walls: Walls, *names: str) -> Mapping[str, Seen]:
    """Carry out these attacks, or all, behind these walls."""
    with tempfile.TemporaryDirectory(prefix="sf-", dir=_PLACE, ignore_cleanup_errors=True) as directory:
        done = subprocess.run(
            [sys.executable, "-m", "tests.attacks.worker", walls, directory, *names],
            cwd=Path(__file__).parents[2],
            env={**os.environ, KEY: f"secret-{secrets.token_hex(12)}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            start_new_session=True,
        )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["attack"]: Seen(line["verdict"], line["note"]) for line in lines}


def table(columns: Mapping[str, Mapping[str, Seen]]) -> Iterator[str]:
    """Give the lines of the table, its headings first."""
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    width = max(map(len, names))
    yield "  ".join([" " * width, *(f"{heading:10}" for heading in columns)]).rstrip()
    for name in names:
        cells = [column[name].verdict if name in column else "" for column in columns.values()]
        yield "  ".join([name.ljust(width), *(f"{cell:10}" for cell in cells)]).rstrip()
