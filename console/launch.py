"""Where the `surefoot` command begins: loading it takes a second, in which it may be interrupted already."""

import os
import signal

_DETACHED = 130


def launch() -> None:
    """Run the command; Ctrl-C while it loads ends it with the exit code of one that comes later."""
    as_it_was = signal.getsignal(signal.SIGINT)
    # Whoever starts it in the background has it ignored.
    if as_it_was is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(_DETACHED))
    from console.main import main

    signal.signal(signal.SIGINT, as_it_was)
    main()
