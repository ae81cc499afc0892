"""A collector of spans: what an OpenTelemetry exporter sends by OTLP over HTTP."""

import gzip
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan
from opentelemetry.trace import StatusCode

Value = str | bool | int | float | list["Value"]


@dataclass(frozen=True)
class Span:
    """A span as it was sent."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    attributes: dict[str, Value]
    service: str
    failed: str | None
    """The description of an error."""


@dataclass
class Collector:
    """What was sent so far; a span that was sent twice counts once, as in every backend."""

    port: int
    _spans: dict[str, Span] = field(default_factory=dict[str, Span])

    @property
    def spans(self) -> Sequence[Span]:
        return sorted(self._spans.values(), key=lambda span: (span.start, -span.end))

    @property
    def environment(self) -> dict[str, str]:
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }

    def take(self, request: ExportTraceServiceRequest) -> None:
        for of_resource in request.resource_spans:
            named = {pair.key: pair.value.string_value for pair in of_resource.resource.attributes}
            for scope in of_resource.scope_spans:
                for sent in scope.spans:
                    self._spans[sent.span_id.hex()] = _span(sent, named["service.name"])

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def tree(self) -> Counter[tuple[str, str]]:
        """Count spans by their name and their parent's; what has no parent that was sent has ''."""
        names = {span.id: span.name for span in self.spans}
        return Counter((span.name, names.get(span.parent, "")) for span in self.spans)


@contextmanager
def collecting() -> Generator[Collector]:
    """Listen on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            request = ExportTraceServiceRequest()
            request.ParseFromString(body)
            collector.take(request)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's own
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(server.server_port)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()


def _span(sent: SentSpan, service: str) -> Span:
    return Span(
        name=sent.name,
        trace=sent.trace_id.hex(),
        id=sent.span_id.hex(),
        parent=sent.parent_span_id.hex(),
        start=sent.start_time_unix_nano,
        end=sent.end_time_unix_nano,
        attributes={pair.key: _value(pair.value) for pair in sent.attributes},
        service=service,
        failed=sent.status.message if sent.status.code == StatusCode.ERROR.value else None,
    )


def _value(value: AnyValue) -> Value:
    match value.WhichOneof("value"):
        case "array_value":
            return [_value(each) for each in value.array_value.values]
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "double_value":
            return value.double_value
        case _:
            return value.int_value
