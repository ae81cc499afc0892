"""The parts that a worker may take, so that each can be scaled, and shut in, apart from the others."""

from typing import Literal

Role = Literal["all", "agent", "llm", "tools"]
"""`all` does everything; `agent` carries runs, `llm` asks models, `tools` runs tools."""


def queue_of(role: Role, queue: str) -> str:
    """Give the task queue that a worker of this role serves, where runs are started on `queue`."""
    match role:
        case "all" | "agent":
            return queue
        case "llm" | "tools":
            return f"{queue}-{role}"
