"""What this process does about the end of its children."""

import signal


def keep_exit_codes() -> None:
    """Have the kernel keep how the tools of this process end; to be called in its main thread.

    A process inherits it when its parent ignores SIGCHLD, as some supervisors do. Nobody can ask for an exit
    code then, `subprocess` reports 0, and a crash looks like a success.
    """
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
