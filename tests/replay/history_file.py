"""Recorded histories on disk: compressed JSON, with nothing in it of the machine that recorded them."""

import getpass
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import History
from temporalio.client import WorkflowHistory

from surefoot.testing.replay import write_history

HISTORIES = Path(__file__).parent / "histories"
RENEWED = HISTORIES / "current"
"""What `make record` renews; the other folders hold what earlier code recorded, and stay as they are."""

IDENTITY = "recorder"
"""Who all workers and clients of a recording are: by default an identity names the machine."""

_SUFFIX = ".json.gz"

# What a worker answers to a run that asks for its tools.
_WORKING_DIRECTORY = re.compile(rb'("working_directory":\s*)"[^"]*"')


class TellsOfItsMachineError(ValueError):
    """Names what must not be in a recorded history."""


def recorded() -> list[Path]:
    """Give every recorded history."""
    return sorted(HISTORIES.glob(f"*/*{_SUFFIX}"))


def name_of(file: Path) -> str:
    """Name a history: its folder, then its scenario."""
    return f"{file.parent.name}/{file.name.removesuffix(_SUFFIX)}"


def scenario_of(file: Path) -> str:
    """Name the scenario that a history tells of; a chain of runs has several, which are numbered."""
    return re.sub(r"-\d+$", "", file.name.removesuffix(_SUFFIX))


def file_of(scenario: str, *, part: int = 1, folder: Path = RENEWED) -> Path:
    """Say where the history of a scenario is; later runs of a chain are numbered from 2 on."""
    return folder / f"{scenario}{'' if part == 1 else f'-{part}'}{_SUFFIX}"


def write(history: WorkflowHistory, file: Path, *, machine: tuple[Path, ...] = ()) -> None:
    """Write a history without stack traces and processes' identities, which no replay looks at.

    A worker's working directory is written as `/agent`.

    Raises:
        TellsOfItsMachineError: it names this machine, its user or one of the paths in `machine`.
    """
    clean = History.FromString(History(events=history.events).SerializeToString())
    for part in _parts(clean):
        if isinstance(part, Failure):
            part.stack_trace = ""
        if "identity" in part.DESCRIPTOR.fields_by_name:
            _anonymize(part)
        if isinstance(part, Payload):
            part.data = _WORKING_DIRECTORY.sub(rb'\1"/agent"', part.data)
    _refuse_traces_of_the_machine(clean, machine)
    write_history(WorkflowHistory(history.workflow_id, clean.events), file)


def payloads(history: WorkflowHistory) -> Iterator[bytes]:
    """Give the data of every payload."""
    for part in _parts(History(events=history.events)):
        if isinstance(part, Payload):
            yield part.data


def _refuse_traces_of_the_machine(history: History, machine: tuple[Path, ...]) -> None:
    paths = (*machine, Path.cwd(), Path.home(), Path(tempfile.gettempdir()), Path(sys.prefix))
    words = {*map(str, paths), f"@{socket.gethostname()}", f"{getpass.getuser()}@"} - {"/"}
    said = history.SerializeToString()
    if found := sorted(word for word in words if word.encode() in said):
        raise TellsOfItsMachineError(f"the history must not name {', '.join(found)}")


def _anonymize(part: Any) -> None:  # noqa: ANN401  any message with an identity
    if part.identity.endswith(f"@{socket.gethostname()}"):
        part.identity = IDENTITY


def _parts(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        for part in _messages(field, value):
            yield from _parts(part)


def _messages(field: Any, value: Any) -> Iterator[Message]:  # noqa: ANN401  protobuf says no more
    if field.message_type is None:
        return
    if field.message_type.GetOptions().map_entry:
        yield from (part for part in value.values() if isinstance(part, Message))
    elif isinstance(value, Message):
        yield value
    else:
        yield from value
