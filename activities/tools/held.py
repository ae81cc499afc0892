"""What tools keep open from one call to the next, and what is still being closed."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar


class Lasting(Protocol):
    """Something that outlasts a call."""

    @property
    def is_over(self) -> bool:
        """Whether it can be used no more."""
        ...

    async def close(self) -> None:
        """End it; takes a few seconds at most, and raises nothing."""
        ...


Kept = TypeVar("Kept", bound=Lasting)


class Held:
    """The lasting things of one executor, each made at its first use."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Lasting] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def get(self, key: Hashable, kind: type[Kept], make: Callable[[], Kept]) -> Kept:
        """Give what is kept under this key; made, if there is none of its kind that can be used."""
        kept = self._kept.get(key)
        if isinstance(kept, kind) and not kept.is_over:
            return kept
        if kept is not None:
            self.end(kept)
        made = self._kept[key] = make()
        return made

    def end(self, lasting: Lasting) -> None:
        """Have something closed, be it kept or not, without waiting for it."""
        self._kept = {key: kept for key, kept in self._kept.items() if kept is not lasting}
        task = asyncio.create_task(lasting.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Close everything, and wait until it is."""
        for kept in list(self._kept.values()):
            self.end(kept)
        while self._ending:
            await asyncio.wait(self._ending)
