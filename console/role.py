"""What `--role` takes, and what goes with each role."""

from collections.abc import Sequence
from typing import Annotated

import typer

from console.errors import CommandError
from workers.roles import Role, queue_of

RoleOption = Annotated[
    Role,
    typer.Option(
        "--role", help="All, or one part of it: agent carries runs, llm asks models, tools runs tools."
    ),
]

# As long as the executor queue of a tool may be, which a run's tools are told of.
_MAX_QUEUE_LETTERS = 200


def checked_role(
    role: Role,
    *,
    queue: str,
    agent: str | None,
    tools: Sequence[str] | None,
    reducers: Sequence[str] | None,
) -> Role:
    """Give the role of a worker, whose other options fit it.

    Raises:
        CommandError: the role has no use for one of them.
    """
    if role in ("agent", "llm") and (tools or agent):
        raise CommandError(f"--role {role} runs no tools: leave out --tools and --agent")
    if role in ("llm", "tools") and reducers:
        raise CommandError(f"--role {role} carries no runs: leave out --reducers")
    if role != "all" and len(queue_of("tools", queue)) > _MAX_QUEUE_LETTERS:
        room = _MAX_QUEUE_LETTERS - len(queue_of("tools", ""))
        raise CommandError(f"--queue is longer than {room} letters, which a tool's queue has room for")
    return role
