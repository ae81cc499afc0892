"""Recorded runs, and whether the code of today would go on with them."""

import gzip
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHistory
from temporalio.converter import DataConverter
from temporalio.worker import Interceptor, Replayer

from workers.encryption.converter import encrypting
from workers.encryption.keys import Keyring
from workers.runtime import shared_runtime
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent

SUFFIXES = (".json", ".json.gz")
"""What a recorded history's file name ends with; `.gz` is compressed."""

Recorded = Path | WorkflowHistory | Sequence[WorkflowHistory]
"""Runs that happened: a file, a directory of files, or histories."""


class DoesNotReplayError(AssertionError):
    """Says which recorded runs today's code would carry out differently, and where."""


_WITHOUT_KEYS = encrypting(Keyring())


async def replays(
    recorded: Recorded, *, code: type[Agent] = Agent, converter: DataConverter = _WITHOUT_KEYS
) -> None:
    """Check that workers with this code can go on with recorded runs, wherever those may stand.

    `converter` is to have the keys of runs that are encrypted.

    Raises:
        DoesNotReplayError: they cannot; it names each run that does not replay, and the first difference.
        FileNotFoundError: there is no such file, or no history in the directory.
    """
    problems: list[str] = []
    for history in _histories(recorded):
        problem = await replay_problem(history, code=code, converter=converter)
        if problem is not None:
            problems.append(f"{history.workflow_id}: {problem}")
    if problems:
        raise DoesNotReplayError("\n".join(["this code does not go on where a recorded run is", *problems]))


async def replay_problem(
    history: WorkflowHistory,
    *,
    code: type[Agent] = Agent,
    interceptors: Sequence[Interceptor] = (),
    converter: DataConverter = _WITHOUT_KEYS,
) -> str | None:
    """Say why workers with this code could not go on with one recorded run; None if they could."""
    with ThreadPoolExecutor(max_workers=1) as executor:
        replayer = Replayer(
            workflows=[code],
            workflow_task_executor=executor,
            workflow_runner=workflow_sandbox(),
            data_converter=converter,
            interceptors=interceptors,
            runtime=shared_runtime(),
        )
        replayed = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return None if replayed.replay_failure is None else _sentence(str(replayed.replay_failure))


def _sentence(failure: str) -> str:
    """Give the one sentence that matters in what the SDK's core prints of its data structures."""
    found = re.search(r'message: "((?:[^"\\]|\\.)*)"', failure)
    return found[1].replace('\\"', '"') if found else failure


async def record(client: Client, workflow_id: str, file: Path) -> tuple[Path, ...]:
    """Write the history of a run in the JSON of Temporal's UI and CLI; gives the files.

    A run that was continued as new is a chain, and takes a file for each of its parts: `long.json`,
    `long-2.json`, and so on. They hold everything that was said: prompts, tool calls, outcomes.

    Raises:
        ValueError: the name does not end with `.json` or `.json.gz`.
        RPCError: the server does not know the run.
    """
    return write_histories(await chain_of(client, workflow_id), file)


def write_histories(chain: Sequence[WorkflowHistory], file: Path) -> tuple[Path, ...]:
    """Write the histories of a chain as `record` does."""
    suffix = _suffix(file)
    stem = file.name.removesuffix(suffix)
    files = (file, *(file.with_name(f"{stem}-{n}{suffix}") for n in range(2, len(chain) + 1)))
    for history, part in zip(chain, files, strict=True):
        write_history(history, part)
    return files


async def chain_of(client: Client, workflow_id: str) -> tuple[WorkflowHistory, ...]:
    """Give the histories of a run and of all that continued it, in the order in which they happened."""
    newest = await client.get_workflow_handle(workflow_id).fetch_history()
    run_id = newest.events[0].workflow_execution_started_event_attributes.first_execution_run_id
    chain: list[WorkflowHistory] = []
    while run_id:
        chain.append(await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history())
        run_id = _continued_as(chain[-1])
    return tuple(chain)


def write_history(history: WorkflowHistory, file: Path) -> None:
    """Write one history, compressed if the name ends with `.json.gz`; the same one gives the same bytes."""
    text = history.to_json().encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text, mtime=0) if _suffix(file) == ".json.gz" else text)


def read_history(file: Path) -> WorkflowHistory:
    """Read a history that `record`, Temporal's UI or its CLI wrote; its run is named like the file."""
    suffix = _suffix(file)
    data = file.read_bytes()
    text = gzip.decompress(data) if suffix == ".json.gz" else data
    return WorkflowHistory.from_json(file.name.removesuffix(suffix), text.decode())


def _histories(recorded: Recorded) -> Sequence[WorkflowHistory]:
    match recorded:
        case WorkflowHistory():
            return [recorded]
        case Path() if recorded.is_dir():
            files = sorted(file for file in recorded.rglob("*") if file.name.endswith(SUFFIXES))
            if not files:
                raise FileNotFoundError(f"there is no recorded history in {recorded}")
            return [read_history(file) for file in files]
        case Path():
            return [read_history(recorded)]
        case _:
            return recorded


def _continued_as(history: WorkflowHistory) -> str:
    last = history.events[-1]
    if last.event_type != EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
        return ""
    return last.workflow_execution_continued_as_new_event_attributes.new_execution_run_id


def _suffix(file: Path) -> str:
    for suffix in SUFFIXES:
        if file.name.endswith(suffix):
            return suffix
    raise ValueError(f"the name of a recorded history ends with {' or '.join(SUFFIXES)}: {file}")
