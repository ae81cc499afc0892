"""Commands as they are printed, for somebody to paste."""

import shlex


def command_on(command: str, workflow_id: str, address: str | None, call: str | None = None) -> str:
    """Print a command with a run's id and a call's, and the server's address where it was named."""
    where = "" if address is None else f" --address {shlex.quote(address)}"
    which = "" if call is None else f" {shlex.quote(call)}"
    return f"surefoot {command} {shlex.quote(workflow_id)}{which}{where}"
