"""The SDK's core, which every client and worker of this process shares."""

import logging
from functools import cache

from temporalio.client import PayloadLimitsConfig
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from workers.settings import PREFIX, SettingsError

PAYLOAD_LIMITS = PayloadLimitsConfig(payloads_warn_size=1536 * 1024)
"""From where on the SDK warns: above every size that the contract allows, and below the server's limit."""


_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
"""Where the buckets of our histograms end: from a scripted model to one that thinks for ten minutes."""
_HISTOGRAMS = ("surefoot_turn_seconds", "surefoot_queue_wait_seconds")

_measured: dict[str, Runtime] = {}


def shared_runtime() -> Runtime:
    """Give this process's one runtime, which logs to the Python logger `temporalio.core`.

    By default it would print to stdout, amid the results of a command.
    """
    return next(iter(_measured.values()), None) or _unmeasured()


def serve_metrics(address: str | None) -> None:
    """Answer Prometheus at `address`, an IP and a port, from now on; None changes nothing.

    It has to come before anything connects, for what is measured is that of this process's one runtime.

    Raises:
        SettingsError: another process listens there, or nobody can.
    """
    if address is None or address in _measured:
        return
    metrics = PrometheusConfig(
        bind_address=address,
        durations_as_seconds=True,
        histogram_bucket_overrides=dict.fromkeys(_HISTOGRAMS, _SECONDS),
    )
    try:
        _measured[address] = _runtime(metrics)
    except ValueError as error:
        reason = str(error).rpartition(": ")[2]
        raise SettingsError(f"{PREFIX}METRICS_ADDRESS is {address!r}: it cannot be used: {reason}") from None


@cache
def _unmeasured() -> Runtime:
    return _runtime(None)


def _runtime(metrics: PrometheusConfig | None) -> Runtime:
    forwarding = LogForwardingConfig(
        logging.getLogger("temporalio.core"), append_target_to_name=False, prepend_target_on_message=False
    )
    levels = TelemetryFilter(core_level="WARN", other_level="ERROR")
    logs = LoggingConfig(levels, forwarding=forwarding)
    return Runtime(telemetry=TelemetryConfig(logging=logs, metrics=metrics, attach_service_name=False))


@cache
def replaying_runtime() -> Runtime:
    """Give this process's one runtime for replays, which logs nothing: the caller is told what went wrong."""
    return Runtime(telemetry=TelemetryConfig(logging=None))
