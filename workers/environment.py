"""The environment of this process, for those that must not read it themselves."""

import os


def tool_base_environment() -> dict[str, str]:
    """Give what the tools' environments are picked from; a tool sees only the allow-listed part of it."""
    return dict(os.environ)
