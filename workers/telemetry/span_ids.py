"""Ids of spans that are made when they end and named before: all who go on with a run make the same."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256

from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator


@dataclass(frozen=True)
class Ids:
    """The ids of one span."""

    trace: int
    span: int


_given: ContextVar[Ids | None] = ContextVar("surefoot-span-ids", default=None)


class GivenIds(IdGenerator):
    """Gives the span that is made within `given` its ids, and every other random ones."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()

    def generate_trace_id(self) -> int:
        """Give the id of a trace."""
        ids = _given.get()
        return ids.trace if ids else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        """Give the id of a span."""
        ids = _given.get()
        return ids.span if ids else self._random.generate_span_id()


@contextmanager
def given(ids: Ids) -> Generator[None]:
    """Have the span that is made in this block have these ids."""
    token = _given.set(ids)
    try:
        yield
    finally:
        _given.reset(token)


def trace_id(chain: str) -> int:
    """Give the id of the trace of a run that nothing else began; `chain` is its first run's id."""
    return int.from_bytes(sha256(chain.encode()).digest()[:16]) or 1


def span_id(chain: str, name: str) -> int:
    """Give the id of one span of a run, such as `turn-7`."""
    return int.from_bytes(sha256(f"{chain}/{name}".encode()).digest()[:8]) or 1
