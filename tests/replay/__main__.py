"""Renews recorded histories on purpose: all of them, or those that are named."""

import asyncio
import logging
import sys

from tests.replay.history_file import RENEWED
from tests.replay.recording import record
from tests.replay.scenarios import SCENARIOS


async def main(names: list[str]) -> None:
    """Renew these, or all."""
    if unknown := [name for name in names if name not in SCENARIOS]:
        sys.exit(f"there is no scenario {', '.join(unknown)}; there are: {', '.join(SCENARIOS)}")
    # What goes wrong in the scenarios does so on purpose.
    logging.disable()
    async for name, size_bytes in record(names or SCENARIOS, RENEWED):
        sys.stdout.write(f"{name}: {size_bytes:,} bytes\n")
        sys.stdout.flush()


asyncio.run(main(sys.argv[1:]))
