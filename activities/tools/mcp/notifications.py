"""What servers say while they work, as a line of text."""

from collections.abc import Mapping
from typing import Any

from surefoot.strict_json import encode_json


def logged(method: str, params: Mapping[str, Any]) -> str | None:
    """Give the line for a log message or for news of a call's progress; None for everything else."""
    match method, params:
        case "notifications/message", {"data": data, **rest}:
            text = data if isinstance(data, str) else encode_json(data)
            return f"[{rest.get('level', 'info')}] {text}"
        case "notifications/progress", {"progress": int() | float() as progress, **rest}:
            total, message = rest.get("total"), rest.get("message")
            done = f"{progress:g}" + (f"/{total:g}" if isinstance(total, int | float) else "")
            return f"[progress] {done}" + (f" {message}" if isinstance(message, str) else "")
        case _:
            return None
