"""Whether `surefoot dev` is up, to take over what other commands leave behind."""

from datetime import timedelta

from workers.file_lock import FileLock, lock, try_lock
from workers.settings import Settings
from workers.state_directory import StateDirectory

# `dev_is_up` takes the lock for a moment, and must not keep a `dev` from starting.
PATIENCE = timedelta(seconds=1)


class DevIsUpError(RuntimeError):
    """One sentence on another `dev` that serves the same state directory."""


async def announce_dev(settings: Settings) -> FileLock:
    """Be the `dev` of the state directory until the lock is released; raises DevIsUpError if there is one."""
    state = StateDirectory.open(settings.state_directory)
    try:
        return await lock(state.dev, within=PATIENCE)
    except TimeoutError:
        raise DevIsUpError(f"`surefoot dev` is already up on {state.path}") from None


def dev_is_up(settings: Settings) -> bool:
    """Tell whether a `dev` serves the state directory now."""
    probe = try_lock(StateDirectory.open(settings.state_directory).dev, shared=True)
    if probe is not None:
        probe.release()
    return probe is None
