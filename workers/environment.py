"""The environment of this process, for those that must not read it themselves."""

import os


def process_environment() -> dict[str, str]:
    """Give a copy; a tool sees only the allow-listed part of it."""
    return dict(os.environ)
