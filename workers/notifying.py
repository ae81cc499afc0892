"""How a worker tells people what runs ask it to, by its settings."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from activities.notices.command import ByCommand
from activities.notices.notify import Notifying, Way
from surefoot.notice import Notice
from workers.settings import Settings
from workers.ui_link import run_url


def notifying(
    settings: Settings, *, namespace: str, directory: Path, environment: Mapping[str, str]
) -> Notifying:
    """Give the activity of a worker; a command runs in `directory`, and sees what tools see."""

    def page(notice: Notice) -> str | None:
        if settings.ui_url is None:
            return None
        ids = {"workflow_id": notice.workflow_id, "run_id": notice.run_id}
        return run_url(settings.ui_url, namespace=namespace, **ids)

    return Notifying(_way(settings, directory, environment), page=page)


def _way(settings: Settings, directory: Path, environment: Mapping[str, str]) -> Way | None:
    if settings.notify_command is not None:
        return ByCommand(tuple(shlex.split(settings.notify_command)), directory, environment)
    if settings.notify_url is not None:
        # It imports for 0.2 s what few workers need.
        from activities.notices.webhook import ByUrl

        return ByUrl(settings.notify_url, settings.notify_secret)
    return None
