"""The server settings without which a lone agent waits on the server instead of its model."""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType

DYNAMIC_CONFIGURATION: Mapping[str, bool | int | str] = MappingProxyType(
    {
        # 100 ms a turn by default: the queue of pending work is polled too rarely for one run.
        "history.transferProcessorMaxPollRPS": 10_000,
        # The default from server 1.32 on; before, every activity waits for a poll.
        "system.enableActivityEagerExecution": True,
        # Timers are a second late by default.
        "history.timerProcessorMaxTimeShift": "50ms",
        # Several partitions cost fan-outs stalls of 2 s on server 1.29.
        "matching.numTaskqueueReadPartitions": 1,
        "matching.numTaskqueueWritePartitions": 1,
    }
)
"""Keys of Temporal's dynamic configuration and their values; `deploy/` holds the same ones."""


def missing_tuning(command_line: str) -> tuple[str, ...]:
    """Name the keys that a running `temporal server start-dev` was not given as they are here."""
    return tuple(
        key
        for key, value in DYNAMIC_CONFIGURATION.items()
        if f" --dynamic-config-value {key}={json.dumps(value)}" not in command_line
    )


def dynamic_configuration_flags() -> Iterator[str]:
    """Give the tuning as arguments of `temporal server start-dev`."""
    for key, value in DYNAMIC_CONFIGURATION.items():
        yield "--dynamic-config-value"
        yield f"{key}={json.dumps(value)}"
