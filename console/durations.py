"""Durations for people."""

from datetime import UTC, datetime, timedelta


def duration(elapsed: timedelta) -> str:
    """Print a duration: `20ms`, `0.3s`, `1m 05s`, `2h 05m`; clocks that disagree cannot make it negative."""
    exact = max(elapsed.total_seconds(), 0.0)
    if exact < 0.1:
        return f"{exact * 1000:.0f}ms"
    if round(exact, 1) < 60:
        return f"{exact:.1f}s"
    seconds = round(exact)
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60:02}s"
    minutes = seconds // 60
    return f"{minutes // 60}h {minutes % 60:02}m"


def between(start: datetime | None, end: datetime | None) -> str | None:
    """Print how long something took; None where nobody knows when it started or ended."""
    return None if start is None or end is None else duration(_aware(end) - _aware(start))


def _aware(time: datetime) -> datetime:
    # An executor in another language says when a call started, and may leave the zone out.
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
