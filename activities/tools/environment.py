"""The environment that a tool is given."""

from collections.abc import Mapping
from datetime import timedelta

PASSED_ON = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
)
"""What a tool may know of the worker's environment, with `LC_*`: where and who it is, never a key."""

CALL_ID = "SUREFOOT_CALL_ID"
"""Names the call that a process serves; whatever a tool starts inherits it."""

ARTIFACTS_DIRECTORY = "SUREFOOT_ARTIFACTS"
"""Names the directory in which a tool may leave files to be kept."""

ARTIFACTS_SOCKET = "SUREFOOT_ARTIFACTS_SOCKET"
"""Names the socket by which `surefoot artifacts` in a tool reads from a store that has no files."""

STORE = "SUREFOOT_STORE"
"""Says to `surefoot artifacts` in a tool where the worker keeps them."""


def passed_on(base: Mapping[str, str]) -> dict[str, str]:
    """What of `base` a process may see that is no call's."""
    return {name: value for name, value in base.items() if name in PASSED_ON or name.startswith("LC_")}


def tool_environment(base: Mapping[str, str], *, call_id: str, timeout: timedelta) -> dict[str, str]:
    """What of `base` a tool may see, and which call it serves: SUREFOOT_CALL_ID, SUREFOOT_TIMEOUT_SECONDS."""
    return passed_on(base) | {
        CALL_ID: call_id,
        "SUREFOOT_TIMEOUT_SECONDS": f"{timeout.total_seconds():.3f}".rstrip("0").rstrip("."),
    }
