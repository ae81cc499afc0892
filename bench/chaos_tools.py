"""The tools that meet the trouble: each notes on disk that it started, and that it did its work."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from surefoot.outcome import ErrorCode

HEARTBEAT_SECONDS = 5
"""How long a call's worker may be silent; short, so that the trouble is over in time."""

ANYONES: frozenset[ErrorCode] = frozenset({"TOOL_LOST", "TOOL_INVOCATION_TIMEOUT"})
"""What may become of a call whatever its tool does: its worker died, or none was there."""

_HEAD = """#!/bin/sh
ulimit -c 0
note() { echo "$SUREFOOT_CALL_ID $1" >> '%s'; }
seconds=${1#*: }
seconds=${seconds%%\\}}
note started
"""


@dataclass(frozen=True)
class Behaviour:
    """What a tool does; `seconds` is the parameter that it is called with."""

    script: str
    weight: int
    """How often it is called, beside the others."""
    own: frozenset[ErrorCode] = frozenset()
    """The failures that are its own doing."""
    succeeds: bool = True
    timeout_seconds: int = 20
    pickup_seconds: int = 60


BEHAVIOURS: Mapping[str, Behaviour] = {
    "steady": Behaviour("sleep $seconds; note finished; echo '{\"done\": true}'", weight=8),
    "impatient": Behaviour(
        "sleep $seconds; note finished; echo '{\"done\": true}'", weight=3, pickup_seconds=1
    ),
    "chatty": Behaviour(
        'for n in 1 2 3; do echo "line $n" >&2; sleep $seconds; done; note finished; echo 3', weight=3
    ),
    "crashing": Behaviour(
        "sleep $seconds; kill -SEGV $$", weight=2, own=frozenset({"TOOL_CRASHED"}), succeeds=False
    ),
    "garbling": Behaviour(
        "sleep $seconds; note finished; printf '\\377{\"half\":'",
        weight=2,
        own=frozenset({"INVALID_OUTPUT"}),
        succeeds=False,
    ),
    "hanging": Behaviour(
        "trap '' TERM; sleep 3600; note finished",
        weight=1,
        own=frozenset({"TOOL_TIMEOUT"}),
        succeeds=False,
        timeout_seconds=3,
    ),
    "littering": Behaviour("setsid sleep 3600 & sleep $seconds; note finished; echo true", weight=2),
}


def write_tools(directory: Path, *, side_effects: Path) -> None:
    """Put the executables and their manifests into a directory; they append to the file of side effects."""
    directory.mkdir()
    for name, behaviour in BEHAVIOURS.items():
        executable = directory / name
        executable.write_text(f"{_HEAD % side_effects}{behaviour.script}\n")
        executable.chmod(0o755)
        (directory / f"{name}.tool.json").write_text(json.dumps(_manifest(name, behaviour)))


def _manifest(name: str, behaviour: Behaviour) -> dict[str, object]:
    return {
        "name": name,
        "description": f"A {name} tool.",
        "inputSchema": {"type": "object", "properties": {"seconds": {"type": "number"}}},
        "timeoutSeconds": behaviour.timeout_seconds,
        "pickupTimeoutSeconds": behaviour.pickup_seconds,
        "heartbeatSeconds": HEARTBEAT_SECONDS,
    }
