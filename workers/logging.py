"""The one log format: pretty on a terminal, JSON otherwise, with what it is about in fields."""

import asyncio
import logging
import os
import sys
from contextlib import suppress
from typing import TextIO

import structlog
from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError

from activities.conversations import CONVERSATION_UNAVAILABLE
from activities.interface import MODEL_REFUSED, MODEL_UNAVAILABLE
from activities.tools.secrets.scrubber import Scrubber
from activities.tools.secrets.source import SecretSource
from workers.environment import process_environment
from workers.log_place import say_where

_FORESEEN = frozenset({MODEL_UNAVAILABLE, MODEL_REFUSED, CONVERSATION_UNAVAILABLE})


def configure_logging(level: int = logging.INFO, *, stream: TextIO | None = None) -> None:
    """Send everything that this process logs to stderr, through one handler.

    What may go wrong with a model is one line, without a traceback, and only from `INFO` on: the retries of
    a turn are part of the run, and whoever watches that sees them there.
    """
    pretty = (stream or sys.stderr).isatty()
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        say_where,
    ]
    render: list[structlog.types.Processor] = (
        # Its own tracebacks show every local variable, keys and all.
        [
            structlog.dev.ConsoleRenderer(
                colors="NO_COLOR" not in os.environ,
                timestamp_key="time",
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
        if pretty
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    handler = _StderrHandler() if stream is None else logging.StreamHandler(stream)
    handler.addFilter(lambda record: _is_wanted(record, level))
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
    )
    handler.setFormatter(_WithoutSecrets(formatter, SecretSource.of(process_environment())))
    # It announces that it waits for calls also when there are none.
    logging.getLogger("temporalio.worker._worker").setLevel(logging.WARNING)
    # Of a collector that is away, it also announces each retry.
    logging.getLogger("opentelemetry.exporter.otlp").setLevel(logging.ERROR)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    _bind_temporal_fields()


class _WithoutSecrets(logging.Formatter):
    """Takes tools' secrets out of every line: a traceback of a tool may hold one."""

    def __init__(self, formatter: logging.Formatter, source: SecretSource) -> None:
        super().__init__()
        self._formatter = formatter
        self._source = source

    def format(self, record: logging.LogRecord) -> str:
        line = self._formatter.format(record)
        return Scrubber.of(self._source.read()).text(line)


class _StderrHandler(logging.Handler):
    """Writes to what `sys.stderr` is at the time, for a live view replaces it while it draws."""

    def emit(self, record: logging.LogRecord) -> None:
        # A terminal that has gone away is no reason to stop what is logged about.
        with suppress(OSError):
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()


def _is_wanted(record: logging.LogRecord, level: int) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, asyncio.CancelledError):
        # The SDK takes an activity for failed that it cancelled because its run was terminated.
        return False
    if not isinstance(error, ApplicationError) or error.type not in _FORESEEN:
        return True
    record.msg, record.args, record.exc_info = f"{record.getMessage()}: {error.message}", None, None
    return level <= logging.INFO


def _bind_temporal_fields() -> None:
    # As fields beside the message, not as a dictionary printed into it.
    workflow.logger.workflow_info_on_message = False
    workflow.logger.workflow_info_on_extra = True
    activity.logger.activity_info_on_message = False
    activity.logger.activity_info_on_extra = True
