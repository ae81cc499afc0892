"""How often somebody may ask."""

import time
from collections.abc import Callable
from dataclasses import dataclass

_MOST_CALLERS = 10_000


@dataclass
class _Bucket:
    left: float
    at: float
    """When `left` was true, on the limit's clock."""


class RateLimit:
    """So many requests a minute for each caller: all at once, or evenly; who waits gets more."""

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = float(per_minute), clock
        self._per_second = per_minute / 60
        self._buckets: dict[str, _Bucket] = {}

    def wait_seconds(self, caller: str) -> float:
        """Tell how long the caller has to wait before the next request; 0 is not at all."""
        return max(0.0, (1 - self._left(caller)) / self._per_second)

    def spend(self, caller: str) -> None:
        """Count a request."""
        self._forget_idle()
        self._buckets[caller] = _Bucket(self._left(caller) - 1, self._clock())

    @property
    def callers(self) -> int:
        """How many callers are remembered, who did not wait long enough to be forgotten."""
        return len(self._buckets)

    def _left(self, caller: str) -> float:
        bucket = self._buckets.get(caller)
        if bucket is None:
            return self._most
        return min(self._most, bucket.left + (self._clock() - bucket.at) * self._per_second)

    def _forget_idle(self) -> None:
        # Else anybody could fill the memory with names and addresses.
        if len(self._buckets) < _MOST_CALLERS:
            return
        self._buckets = {
            caller: bucket for caller, bucket in self._buckets.items() if self._left(caller) < self._most
        }
