"""A process that has loaded the `surefoot` command once, and becomes it as often as it is asked to.

Loading takes half a second, a provider's client two more, and these tests start hundreds of commands.
"""

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from typing import Any, NoReturn

import console.main

_LENGTH_BYTES = 8
_PROVIDERS = ("openai", "opnai", "anthropic")
"""What names a provider, also misspelt, in a command's arguments or its environment."""
_STREAMS = 3


def serve(requests: socket.socket) -> None:
    """Start a command for each request until nobody is left who could ask.

    A request is text behind its length, and brings four descriptors: the command's stdin, stdout and stderr,
    and where its process id and then its exit code are told, each a line.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not requests:
                    selector.unregister(key.fileobj)
                    _tell_exit_code(key.fd, *key.data)
                elif not _start(requests, selector):
                    return


def _start(requests: socket.socket, selector: selectors.BaseSelector) -> bool:
    length, descriptors, _, _ = socket.recv_fds(requests, _LENGTH_BYTES, _STREAMS + 1)
    if not length:
        return False
    request = json.loads(_read(requests, int.from_bytes(length)))
    told = descriptors[_STREAMS]
    texts = (*request["arguments"], *request["environment"].values())
    if any(name in text for name in _PROVIDERS for text in texts):
        _load_providers()
    process_id = os.fork()
    if process_id == 0:
        os.setsid()
        os.write(told, f"{os.getpid()}\n".encode())
        _become(request, descriptors[:_STREAMS])
    for descriptor in descriptors[:_STREAMS]:
        os.close(descriptor)
    selector.register(os.pidfd_open(process_id), selectors.EVENT_READ, (process_id, told))
    return True


def _read(requests: socket.socket, length: int) -> bytes:
    text = b""
    while len(text) < length:
        text += requests.recv(length - len(text))
    return text


def _load_providers() -> None:
    for module in ("activities.providers.model", "activities.providers.names", "pydantic_ai.models.openai"):
        importlib.import_module(module)


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(_STREAMS, os.sysconf("SC_OPEN_MAX"))
    # Tests that were started under nohup ignore it, and so would the command.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["surefoot", *request["arguments"]]
    console.main.main()


def _tell_exit_code(ended: int, process_id: int, told: int) -> None:
    _, status = os.waitpid(process_id, 0)
    os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os.close(told)
    os.close(ended)


if __name__ == "__main__":
    # What is loaded now stays as it is, and so the pages that hold it stay shared.
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
