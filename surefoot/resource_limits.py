"""How much of its machine a tool may use."""

from typing import Annotated

from pydantic import Field

from surefoot.wire import CamelModel

_MEBIBYTE = 1024 * 1024
_GIBIBYTE = 1024 * _MEBIBYTE


class ResourceLimits(CamelModel):
    """What one call may use, all its processes together unless a field says otherwise; None is no limit."""

    processes: Annotated[int, Field(ge=1, le=1_000_000)] | None = 512
    """How many may live at a time."""
    memory_bytes: Annotated[int, Field(ge=16 * _MEBIBYTE)] | None = 4 * _GIBIBYTE
    """What they may hold in memory."""
    open_files: Annotated[int, Field(ge=16, le=1_000_000)] | None = 4_096
    """How many files one process may have open."""
    file_size_bytes: Annotated[int, Field(ge=_MEBIBYTE)] | None = _GIBIBYTE
    """How large one file may grow."""
    cpu_seconds: Annotated[int, Field(ge=1, le=86_400 * 1_000)] | None = None
    """How long one process may compute; the call's timeout holds in any case."""


DEFAULT_RESOURCES = ResourceLimits()


def are_default(limits: ResourceLimits) -> bool:
    """Say of a field whether it is left out, so that what was written before there was one stays as it is."""
    return limits == DEFAULT_RESOURCES
