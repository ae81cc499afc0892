import asyncio
import os
from pathlib import Path

import pytest

from activities.tools.executable import Exited
from tests.activities.tools.tool_run import ToolRun

MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def memory_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


@pytest.mark.long
@pytest.mark.parametrize(
    ("flood", "size_bytes"),
    [
        pytest.param("head -c {size} /dev/zero", 4 * GIBIBYTE, id="4 GiB of NUL"),
        pytest.param("head -c {size} /dev/zero >&2", GIBIBYTE, id="1 GiB on stderr"),
        pytest.param("head -c {size} /dev/zero | tr '\\0' '\\377'", GIBIBYTE // 4, id="256 MiB of no UTF-8"),
    ],
)
async def test_a_flood_of_output_raises_the_memory_by_less_than_32_megabytes(
    tmp_path: Path, flood: str, size_bytes: int
) -> None:
    run = ToolRun(tmp_path)
    tool = run.tool(f"#!/bin/sh\n{flood.format(size=size_bytes)}\nexit 7\n")
    before_bytes = peak_bytes = memory_bytes()
    task = asyncio.create_task(run(tool, seconds=600))
    while not task.done():
        await asyncio.wait({task}, timeout=0.01)
        peak_bytes = max(peak_bytes, memory_bytes())
    raised_bytes = peak_bytes - before_bytes
    print(f"{size_bytes:,} bytes of output raised the memory by {raised_bytes:,} bytes")  # noqa: T201
    written_bytes = run.captures.stdout.total_bytes + run.captures.stderr.total_bytes
    assert (await task, written_bytes) == (Exited(7), size_bytes)
    assert raised_bytes < 32 * MEBIBYTE
