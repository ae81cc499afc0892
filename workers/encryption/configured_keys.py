"""The keys that the settings name."""

from workers.encryption.keys import BadKeysError, Keyring, parse_keys
from workers.settings import PREFIX, Settings, SettingsError


def configured_keys(settings: Settings) -> Keyring:
    """Give the keys of these settings, none where none are named.

    Raises:
        SettingsError: the keys or their file cannot be used; the sentence holds no key.
    """
    if settings.encryption_keys is not None:
        return _parsed(settings.encryption_keys, f"{PREFIX}ENCRYPTION_KEYS")
    file = settings.encryption_keys_file
    if file is None:
        return Keyring()
    name = f"{PREFIX}ENCRYPTION_KEYS_FILE names {file}"
    try:
        return _parsed(file.read_text(encoding="utf-8"), name)
    except OSError as error:
        raise SettingsError(f"{name}, which cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{name}, which is no text in UTF-8") from None


def _parsed(text: str, name: str) -> Keyring:
    try:
        return parse_keys(text)
    except BadKeysError as error:
        raise SettingsError(f"{name}: {error}") from None
