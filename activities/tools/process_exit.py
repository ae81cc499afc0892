"""How the event loop learns that a child process is over.

asyncio's own way waits for the end of the child's pipes as well (Python 3.11), and a daemon that holds one
open delays it for ever.
"""

import asyncio
import os
from collections.abc import Callable
from subprocess import Popen

POLL_SECONDS = 0.02


def watch_exit(process: Popen[bytes], on_exit: Callable[[], None]) -> Callable[[], None]:
    """Have `on_exit` called once the process is over; gives the function that ends the watch early."""
    try:
        return watch_descriptor(process, on_exit)
    except (AttributeError, OSError):
        # Only Linux has process descriptors, and a sandbox may forbid them.
        return watch_by_polling(process, on_exit)


def watch_descriptor(process: Popen[bytes], on_exit: Callable[[], None]) -> Callable[[], None]:
    """Watch the process through a descriptor of it (Linux); it is left for the caller to reap."""
    descriptor = os.pidfd_open(process.pid)
    loop = asyncio.get_running_loop()

    def end() -> None:
        nonlocal descriptor
        if descriptor >= 0:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            descriptor = -1

    def exited() -> None:
        end()
        on_exit()

    loop.add_reader(descriptor, exited)
    return end


def watch_by_polling(process: Popen[bytes], on_exit: Callable[[], None]) -> Callable[[], None]:
    """Look at the process every 20 ms; it has been reaped when `on_exit` is called."""
    loop = asyncio.get_running_loop()

    def look() -> None:
        nonlocal timer
        if process.poll() is None:
            timer = loop.call_later(POLL_SECONDS, look)
        else:
            on_exit()

    timer = loop.call_later(POLL_SECONDS, look)
    return lambda: timer.cancel()
