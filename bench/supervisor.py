"""What a supervisor adds to a tool call: the same calls with it and in a bare process group, in turns.

python -m bench.supervisor [--calls 100] [--tool /bin/true]
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median

from activities.tools.capture import Captures, StreamCapture
from activities.tools.child_process import Leash
from activities.tools.command import Command
from activities.tools.executable import Exited, execute
from activities.tools.process_group import ProcessGroup
from activities.tools.supervised import Supervised

AIM_MILLISECONDS = 15


async def milliseconds(tool: Path, leash: Callable[[Command], Leash]) -> float:
    """Call the tool once and give what that took."""
    began = time.perf_counter()
    ending = await execute(
        tool,
        "{}",
        timeout=timedelta(seconds=60),
        environment={"PATH": "/usr/bin:/bin"},
        directory=Path("/"),
        captures=Captures(StreamCapture(10_240), StreamCapture(4_096)),
        leash=leash,
    )
    took = 1000 * (time.perf_counter() - began)
    assert isinstance(ending, Exited), ending
    return took


async def pairs(tool: Path, calls: int) -> list[tuple[float, float]]:
    """Call it in turns, bare and supervised, so that both meet the same load."""
    return [
        (await milliseconds(tool, ProcessGroup), await milliseconds(tool, Supervised)) for _ in range(calls)
    ]


def main() -> int:
    """Print the figures; they depend on the machine, so none of them is a failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--tool", type=Path, default=Path("/bin/true"))
    arguments = parser.parse_args()
    measured = asyncio.run(pairs(arguments.tool, arguments.calls))
    bare = median(pair[0] for pair in measured)
    supervised = median(pair[1] for pair in measured)
    added = median(pair[1] - pair[0] for pair in measured)
    print(f"calls of each kind             {len(measured):>8,}")
    print(f"process group, milliseconds    {bare:>8.1f}")
    print(f"supervised, milliseconds       {supervised:>8.1f}")
    print(f"added per call, milliseconds   {added:>8.1f}   (aim: {AIM_MILLISECONDS})")
    print(f"supervised / process group     {supervised / bare:>8.1f}")
    least = min(pair[1] for pair in measured) - min(pair[0] for pair in measured)
    print(f"added to the quickest call     {least:>8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
