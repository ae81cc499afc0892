"""How a command says that it cannot go on."""

from console.exit_codes import ExitCode


class CommandError(Exception):
    """One clear sentence for whoever typed the command, and the exit code that goes with it.

    The command's entry prints it on stderr as `surefoot: …`, without a traceback. A message of several
    lines lists one problem a line.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
