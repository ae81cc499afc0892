"""`--notify`: of what of a run people are told who do not watch it."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

import typer

from console.errors import CommandError
from surefoot.run import NoticeKind, OnApproval
from workers.settings import PREFIX, Settings


class Told(StrEnum):
    """What `--notify` takes."""

    APPROVAL = "approval"
    WAITING = "waiting"
    ENDED = "ended"


NotifyOption = Annotated[
    list[Told] | None,
    typer.Option(
        "--notify",
        help="What the run's worker tells people of, by its SUREFOOT_NOTIFY_COMMAND or _URL; repeatable.",
    ),
]


_KINDS: Mapping[Told, NoticeKind] = MappingProxyType(
    {Told.APPROVAL: "approval", Told.WAITING: "waiting", Told.ENDED: "ended"}
)


def asked_notices(given: Sequence[Told] | None) -> tuple[NoticeKind, ...]:
    """Give what was asked for, each kind once."""
    return tuple(_KINDS[told] for told in dict.fromkeys(given or ()))


def on_approval_when_told(on_approval: OnApproval | None, notices: Sequence[NoticeKind]) -> OnApproval | None:
    """Give what was asked for, else that a call waits of which people are told that it does."""
    return on_approval or ("wait" if "approval" in notices else None)


def refuse_untold(notices: Sequence[NoticeKind], settings: Settings) -> None:
    """Refuse notices of a run whose worker is this command, if it has nobody to tell; raises CommandError."""
    if notices and settings.notify_command is None and settings.notify_url is None:
        raise CommandError(f"--notify tells nobody: set {PREFIX}NOTIFY_COMMAND or {PREFIX}NOTIFY_URL")
