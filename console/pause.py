"""`surefoot pause` and `surefoot resume`: hold a run, and let it go on."""

from console.given_text import checked_name
from console.options import AddressOption, ReasonOption, RunArgument, SenderOption
from console.steer import steer
from surefoot.run import Pause, Resume
from workers.steering import pause_run, resume_run


def pause(
    run: RunArgument,
    reason: ReasonOption = None,
    sender: SenderOption = None,
    address: AddressOption = None,
) -> int:
    """Have a run begin no turn of its model and no tool call until it is resumed.

    What runs goes on to its end, and an answer ends the run all the same. A limit of time goes on. The exit
    code is 0 once the run is paused, 2 if it cannot be, and 1 if no worker answers for it.
    """
    request = Pause(reason=checked_name("--reason", reason), sender=checked_name("--from", sender))
    return steer(
        run,
        address,
        lambda client, found: pause_run(client, found, request),
        done="paused",
        then="resume",
    )


def resume(run: RunArgument, sender: SenderOption = None, address: AddressOption = None) -> int:
    """Let a run go on that is paused, or that waits for its model.

    A run that waits for its model takes the same turn again. The exit code is 0 once the run goes on, 2 if
    nothing holds it, and 1 if no worker answers for it.
    """
    request = Resume(sender=checked_name("--from", sender))
    return steer(run, address, lambda client, found: resume_run(client, found, request), done="resumed")
