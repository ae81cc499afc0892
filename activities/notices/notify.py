"""The activity by which a run tells people something."""

from collections.abc import Callable
from typing import Protocol

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.interface import NOTIFY_PEOPLE, Notified
from surefoot.notice import Notice


class NotDeliveredError(RuntimeError):
    """One sentence on a notice that did not arrive; `final` if it never will."""

    def __init__(self, reason: str, *, final: bool) -> None:
        self.final = final
        super().__init__(reason)


class Way(Protocol):
    """How people are told."""

    async def tell(self, document: bytes) -> None:
        """Deliver a notice as JSON, within some ten seconds.

        Raises:
            NotDeliveredError: it did not arrive, as far as is known here.
        """
        ...


def _nowhere(_: Notice) -> str | None:
    return None


class Notifying:
    """`notify_people` of a worker that tells people in one way, or has nobody to tell."""

    def __init__(self, way: Way | None, *, page: Callable[[Notice], str | None] = _nowhere) -> None:
        """Tell people in this way; `page` gives the address of a run's page, where it is known."""
        self._way = way
        self._page = page

    @activity.defn(name=NOTIFY_PEOPLE)
    async def notify_people(self, notice: Notice) -> Notified:
        """Deliver a notice; one of which nobody knows whether it arrived is delivered again.

        Raises:
            ApplicationError: NOT_DELIVERED, and why.
        """
        if self._way is None:
            return Notified(told=False)
        document = notice.model_copy(update={"ui_url": self._page(notice)})
        try:
            await self._way.tell(document.model_dump_json().encode())
        except NotDeliveredError as error:
            raise ApplicationError(
                str(error),
                type="NOT_DELIVERED",
                non_retryable=error.final,
                category=ApplicationErrorCategory.BENIGN,
            ) from None
        return Notified(told=True)
