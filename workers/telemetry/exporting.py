"""Where spans go: to the collector that the standard OTEL_ variables name, in batches."""

import os
from functools import cache

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from workers.telemetry.span_ids import GivenIds

SCOPE = "surefoot"
"""The name of what makes our spans."""


@cache
def tracer_provider() -> TracerProvider:
    """Give this process's one provider; sampler, limits and resource are those of the OTEL_ variables."""
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "surefoot"}
    provider = TracerProvider(resource=Resource.create(named), id_generator=GivenIds())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
