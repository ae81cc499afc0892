"""The table of the faults that befall a call from outside: its worker's end, and what an operator does.

Every post is one worker process with a queue of its own. Once all calls have begun, each post is sent its
signals, and each call what an operator does to it. 'x' in the texts stands for the tool.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from tests.faults.case import Case, Failure, Success, shell

Signal = Literal["KILL", "TERM"]
Deed = Literal["nothing", "cancel", "pause", "pause and unpause", "reset"]

VICTIM = "victim"
"""The post whose process id is in the file of this name, in the run's working directory."""

NOBODY = "nobody"
"""The queue that no post serves."""


@dataclass(frozen=True)
class Post:
    """A worker: what it is sent, how long it lets calls finish, and whether it has the tools."""

    signals: tuple[Signal, ...] = ()
    grace_seconds: float = 0
    has_tools: bool = True


@dataclass(frozen=True)
class WorkerCase:
    """A call, the post that serves its queue, and what an operator does to it."""

    post: str
    case: Case
    deed: Deed = "nothing"
    sees_behind_walls: Failure | Success | None = None
    """What comes of it where a tool cannot reach its worker, if that is something else."""

    def among(self, *, walls: bool) -> Case:
        """Give the call with what must come of it behind walls, or without any."""
        if walls and self.sees_behind_walls is not None:
            return replace(self.case, sees=self.sees_behind_walls)
        return self.case


POSTS: Mapping[str, Post] = MappingProxyType(
    {
        "killed": Post(("KILL",)),
        "stopped": Post(("TERM",)),
        "stopped-twice": Post(("TERM", "TERM"), grace_seconds=60),
        "patient": Post(("TERM",), grace_seconds=60),
        "operated": Post(),
        "empty": Post(has_tools=False),
        VICTIM: Post(),
    }
)

HANGS = "echo begun; exec sleep 60"
DEAF = "trap '' TERM HUP INT; echo begun; while :; do sleep 1; done"
FINISHES = "echo begun >&2; sleep 4; echo true"

LOST = "Tool 'x' was lost: its worker stopped answering; it may or may not have taken effect"
INTERRUPTED = (
    "Tool 'x' was interrupted: its worker was shut down before it finished; "
    "it may or may not have taken effect"
)
CANCELLED = "Tool 'x' was cancelled by an operator"


def _case(
    post: str,
    name: str,
    body: str,
    sees: Failure | Success,
    *,
    deed: Deed = "nothing",
    side_effects: int = 1,
    pickup_seconds: int = 60,
    sees_behind_walls: Success | None = None,
) -> WorkerCase:
    manifest = {
        "executorQueue": f"QUEUE-{post}",
        "heartbeatSeconds": 5,
        "pickupTimeoutSeconds": pickup_seconds,
        "timeoutSeconds": 50,
    }
    case = Case(name, shell(body), sees, manifest=manifest, side_effects=side_effects, within_seconds=60)
    return WorkerCase(post, case, deed, sees_behind_walls)


def _fails(code: str, error: str, stdout: str = "begun\n") -> Failure:
    return Failure(code, None, error, stdout)


WORKER_CASES = (
    _case("killed", "its worker is killed", HANGS, _fails("TOOL_LOST", LOST)),
    _case("killed", "its worker is killed and it ignores SIGTERM", DEAF, _fails("TOOL_LOST", LOST)),
    _case(
        "killed",
        "its worker is killed and it has daemons",
        f"setsid sleep 60 & (setsid sh -c 'sleep 60 &' &); {HANGS}",
        _fails("TOOL_LOST", LOST),
    ),
    _case(
        VICTIM,
        "it kills its own worker",
        f'echo begun >&2; sleep 3; kill -KILL "$(cat {VICTIM})" && exec sleep 60; echo \'"refused"\'',
        Failure("TOOL_LOST", None, LOST, stderr="begun\n"),
        sees_behind_walls=Success("refused"),
    ),
    _case("stopped", "its worker is stopped", HANGS, _fails("TOOL_INTERRUPTED", INTERRUPTED)),
    _case(
        "stopped",
        "its worker is stopped and it ignores SIGTERM",
        DEAF,
        _fails("TOOL_INTERRUPTED", INTERRUPTED),
    ),
    _case(
        "stopped",
        "its worker is stopped and it has a daemon",
        f"setsid sleep 60 & {HANGS}",
        _fails("TOOL_INTERRUPTED", INTERRUPTED),
    ),
    _case("stopped-twice", "its worker is stopped twice", HANGS, _fails("TOOL_LOST", LOST)),
    _case("patient", "its worker is stopped and waits for it", FINISHES, Success(True)),
    _case("operated", "it is cancelled", HANGS, _fails("TOOL_CANCELLED", CANCELLED), deed="cancel"),
    _case(
        "operated",
        "it is cancelled and ignores SIGTERM",
        DEAF,
        _fails("TOOL_CANCELLED", CANCELLED),
        deed="cancel",
    ),
    _case(
        NOBODY,
        "it is cancelled before it was taken",
        HANGS,
        _fails("TOOL_CANCELLED", CANCELLED, stdout=""),
        deed="cancel",
        side_effects=0,
    ),
    _case("operated", "it is paused", FINISHES, Success(True), deed="pause"),
    _case("operated", "it is paused and unpaused", FINISHES, Success(True), deed="pause and unpause"),
    _case("operated", "it is reset", HANGS, _fails("TOOL_CANCELLED", CANCELLED), deed="reset"),
    _case(
        "empty",
        "its executor lacks it",
        HANGS,
        _fails("TOOL_NOT_FOUND", "Tool 'x' is not known to the executor that was asked for it", stdout=""),
        side_effects=0,
    ),
)
