"""What the exit code of a command says."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The meaning of each exit code, for scripts that call `surefoot`."""

    DONE = 0
    RUN_FAILED = 1
    USAGE = 2
    LIMIT_REACHED = 3
    TEMPORAL_UNREACHABLE = 4
    CANCELLED = 5
    DETACHED = 130
