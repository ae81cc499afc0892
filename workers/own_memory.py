"""The memory and the environment of this process, which hold keys."""

import sys

from activities.tools.supervisor_policy import PR_SET_DUMPABLE, prctl


def keep_to_itself() -> None:
    """Let no other process of this user read this one's memory or environment, and leave no core (Linux)."""
    if sys.platform == "linux":
        prctl(PR_SET_DUMPABLE, 0)
