"""How a trace travels: in headers of Temporal's, under the name that its own tracing uses."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadConverter

_HEADER = "_tracer-data"
_STARTED_AT = "surefoot-started-at"
_propagator = TraceContextTextMapPropagator()

Headers = Mapping[str, Payload]


def context_of(span: SpanContext | None) -> Context:
    """Give the context in which spans are children of this one; of none, they are roots."""
    return set_span_in_context(NonRecordingSpan(span), Context()) if span else Context()


def with_span(headers: Headers, span: SpanContext | None, *, started_at: datetime | None = None) -> Headers:
    """Add the span that what is begun with these headers belongs to, and when its run began."""
    carried: dict[str, str] = {}
    _propagator.inject(carried, context_of(span))
    if started_at is not None:
        carried[_STARTED_AT] = started_at.isoformat()
    return {**headers, _HEADER: PayloadConverter.default.to_payloads([carried])[0]} if carried else headers


def span_in(headers: Headers) -> SpanContext | None:
    """Give the span that something belongs to, as far as its headers say."""
    found = get_current_span(_propagator.extract(_carried(headers), Context())).get_span_context()
    return found if found.is_valid else None


def started_at_in(headers: Headers) -> datetime | None:
    """Give when the first run of a chain began, as far as the headers say."""
    text = _carried(headers).get(_STARTED_AT)
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _carried(headers: Headers) -> dict[str, str]:
    # Whatever else somebody put there is none of ours, and no reason to fail a run.
    if (payload := headers.get(_HEADER)) is None or payload.metadata.get("encoding") != b"json/plain":
        return {}
    try:
        said: Mapping[str, Any] = PayloadConverter.default.from_payloads([payload], [dict[str, Any]])[0]
    except (TypeError, ValueError, RuntimeError):
        return {}
    return {name: value for name, value in said.items() if isinstance(value, str)}
