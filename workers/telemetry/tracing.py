"""Whether this process traces its runs, and what its workers need for that."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Thread

from temporalio.plugin import SimplePlugin

from workers.environment import process_environment
from workers.settings import Settings, SettingsError

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
_HTTP = "http/protobuf"

_FLUSH_SECONDS = 3
"""How long a worker that stops waits for a collector to take its last spans."""


def tracing(settings: Settings) -> Sequence[SimplePlugin]:
    """Give what has a worker trace its runs; nothing, and without a cost, where no collector is named.

    Raises:
        SettingsError: it cannot send spans as it is asked to.
    """
    variables = process_environment()
    if not variables.get(ENDPOINT):
        return ()
    if (protocol := variables.get(PROTOCOL) or _HTTP) != _HTTP:
        raise SettingsError(f"{PROTOCOL} is {protocol!r}: it must be {_HTTP}, for a port such as 4318")
    try:
        from workers.telemetry.exporting import tracer_provider
        from workers.telemetry.interceptor import Tracing
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{ENDPOINT} is set, and {error.name} is not installed: install surefoot[telemetry], or unset it"
        ) from None
    provider = tracer_provider()
    interceptor = Tracing(provider, content=settings.trace_content)
    flushing = partial(_flushing, provider.force_flush)
    return (SimplePlugin("surefoot.traces", interceptors=[interceptor], run_context=flushing),)


@asynccontextmanager
async def _flushing(flush: Callable[[], object]) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        loop, flushed = asyncio.get_running_loop(), asyncio.Event()

        def work() -> None:
            flush()
            # By then the loop may have ended.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(flushed.set)

        # No thread of the loop's own: it would wait for that as long as a collector that is away is retried.
        Thread(target=work, daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(_FLUSH_SECONDS):
                await flushed.wait()
