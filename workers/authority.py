"""Whose signed decisions the runs take that are started here, and the key that decisions are signed with."""

from pathlib import Path

from surefoot.authority import read_public_keys
from workers.authority_key import AuthorityKey, AuthorityKeyError, read_key
from workers.settings import PREFIX, Settings, SettingsError

_MAX_FILE_BYTES = 64 * 1024


def authority_of(settings: Settings) -> tuple[str, ...]:
    """Give the public keys for the input of a run; empty where decisions need no signature.

    Raises:
        SettingsError: the file of keys cannot be used; a run is then not started without them.
    """
    if settings.authority is not None:
        return read_public_keys(settings.authority)
    if (file := settings.authority_file) is None:
        return ()
    try:
        return read_public_keys(_text(file))
    except OSError as error:
        raise SettingsError(f"{PREFIX}AUTHORITY_FILE cannot be read: {file}: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{PREFIX}AUTHORITY_FILE cannot be used: {file}: {error}") from None


def authority_key_of(settings: Settings) -> AuthorityKey | None:
    """Give the key that decisions are signed with here; None where there is none.

    Raises:
        SettingsError: the file that is named cannot be used.
    """
    if settings.authority_key_file is None:
        return None
    try:
        return read_key(settings.authority_key_file)
    except AuthorityKeyError as error:
        raise SettingsError(f"{PREFIX}AUTHORITY_KEY_FILE cannot be used: {error}") from None


def _text(file: Path) -> str:
    with file.open("rb") as stream:
        content = stream.read(_MAX_FILE_BYTES)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8") from None
