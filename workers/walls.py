"""The sandbox that the settings ask for, as far as this machine has it."""

from pathlib import Path

from activities.tools.sandbox.level import LEVELS, Level
from activities.tools.sandbox.probe import levels, why_not
from activities.tools.sandbox.sandbox import Sandbox
from workers.setting_values import is_s3_url
from workers.settings import PREFIX, Settings, SettingsError


def sandbox_of(settings: Settings) -> Sandbox:
    """Give what executables are walled in by; the levels are tried out once in a process.

    Raises:
        SettingsError: the level that is asked for does not work here.
    """
    files = (settings.encryption_keys_file, settings.authority_file, settings.authority_key_file)
    store = [] if is_s3_url(settings.store_location) else [Path(settings.store_location)]
    hidden = [settings.state_directory, *store, *(file.absolute() for file in files if file is not None)]
    visible = [Path(path) for path in settings.sandbox_read.split(":") if path]
    return Sandbox(_level(settings), tuple(hidden), tuple(visible))


def _level(settings: Settings) -> Level:
    asked = settings.sandbox
    match asked:
        case "auto":
            return levels()[0]
        case "required":
            if (strongest := levels()[0]) != "none":
                return strongest
            reasons = "; ".join(f"{level}: {why_not(level)}" for level in LEVELS if level != "none")
            raise SettingsError(f"{PREFIX}SANDBOX is 'required', and no level works here: {reasons}")
        case "bwrap" | "landlock" | "none":
            if (reason := why_not(asked)) is not None:
                raise SettingsError(f"{PREFIX}SANDBOX is {asked!r}, which does not work here: {reason}")
            return asked
