import asyncio
import os
from collections.abc import Callable
from subprocess import DEVNULL, Popen

import pytest

from activities.tools.process_exit import watch_by_polling, watch_descriptor, watch_exit

Watch = Callable[[Popen[bytes], Callable[[], None]], Callable[[], None]]
EVERY_WATCH = pytest.mark.parametrize("watch", [watch_exit, watch_descriptor, watch_by_polling])


def start(*arguments: str, stdin: int = DEVNULL) -> Popen[bytes]:
    return Popen(arguments, stdin=stdin)


@EVERY_WATCH
async def test_an_exit_is_noticed_once(watch: Watch) -> None:
    exits: list[int | None] = []
    noticed = asyncio.Event()
    process = start("sh", "-c", "exit 7")

    def on_exit() -> None:
        exits.append(process.poll())
        noticed.set()

    end = watch(process, on_exit)
    await asyncio.wait_for(noticed.wait(), 20)
    end()
    assert exits == [7]


@EVERY_WATCH
async def test_a_watch_that_ended_notices_nothing(watch: Watch) -> None:
    exits: list[None] = []
    reader, writer = os.pipe()
    process = start("cat", stdin=reader)
    watch(process, lambda: exits.append(None))()
    os.close(reader)
    os.close(writer)
    process.wait()
    await asyncio.sleep(0.05)
    assert exits == []
