"""The SDK's core, which every client and worker of this process shares."""

import logging
from functools import cache

from temporalio.client import PayloadLimitsConfig
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

PAYLOAD_LIMITS = PayloadLimitsConfig(payloads_warn_size=1536 * 1024)
"""From where on the SDK warns: above every size that the contract allows, and below the server's limit."""


@cache
def shared_runtime() -> Runtime:
    """Give this process's one runtime, which logs to the Python logger `temporalio.core`.

    By default it would print to stdout, amid the results of a command.
    """
    forwarding = LogForwardingConfig(
        logging.getLogger("temporalio.core"), append_target_to_name=False, prepend_target_on_message=False
    )
    levels = TelemetryFilter(core_level="WARN", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(levels, forwarding=forwarding)))


@cache
def replaying_runtime() -> Runtime:
    """Give this process's one runtime for replays, which logs nothing: the caller is told what went wrong."""
    return Runtime(telemetry=TelemetryConfig(logging=None))
