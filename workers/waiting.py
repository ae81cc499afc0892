"""Waiting for what happens in other processes."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

CHECK_EVERY = timedelta(seconds=0.02)
Found = TypeVar("Found")


async def until(
    look: Callable[[], Found | None], *, within: timedelta, every: timedelta = CHECK_EVERY
) -> Found:
    """Look again and again, and give the first thing found that is true; raises TimeoutError."""
    async with asyncio.timeout(within.total_seconds()):
        while True:
            if found := look():
                return found
            await asyncio.sleep(every.total_seconds())
