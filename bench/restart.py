"""A worker that is restarted in the middle of a long run: what its successor has to do to go on."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path

from bench.arena import arena
from bench.figure import Figure
from bench.notes import Note
from bench.serving import Measured
from bench.worker_process import WorkerProcess, worker_process
from bench.workload import Workload

_CHECK_SECONDS = 0.1
_SETTLED_TURNS = 5


async def restart(directory: Path, workload: Workload) -> list[Figure]:
    """Stop the worker after half of the turns, start another one, and see what it asks for."""
    async with arena(directory, sides=("surefoot",)) as made:
        first, began = made.worker("surefoot"), time.monotonic()
        run = await made.start("surefoot", workload)
        await _until_turn(first, workload.turns // 2, since=began)
        before = first.notes("turn")[-1]
        await first.stop()
        async with worker_process(
            Measured("surefoot"), address=made.address, queue=made.queues["surefoot"], directory=directory
        ) as second:
            result = await run.result()
            notes = second.notes("serving", "turn", "query", "instance", "replayed")
    assert result["turns"] == workload.turns
    return _figures(notes, before)


async def _until_turn(worker: WorkerProcess, turn: int, *, since: float) -> None:
    while worker.turns(since=since) < turn:  # noqa: ASYNC110  another process
        await asyncio.sleep(_CHECK_SECONDS)


def _figures(notes: list[Note], before: Note) -> list[Figure]:
    serving = next(note for note in notes if note.kind == "serving")
    turns = [note for note in notes if note.kind == "turn"]
    settled = [note for note in notes if serving.at < note.at <= turns[:_SETTLED_TURNS][-1].at]
    pages = [note.seconds for note in settled if note.kind == "query"]
    replays = [note.seconds for note in settled if note.kind == "replayed"]
    where = f"restart at turn {before.turn:,}"
    return [
        Figure(f"{where}: conversations asked for", "", _asked(settled), at_most=1),
        Figure(f"{where}: pages of them", "", len(pages)),
        Figure(f"{where}: replays", "", sum(note.kind == "instance" for note in settled), at_most=1),
        Figure(f"{where}: the pages, together", "ms", 1000 * sum(pages)),
        Figure(f"{where}: the replay itself", "ms", 1000 * sum(replays)),
        Figure(f"{where}: from serving to the next turn", "ms", 1000 * (turns[0].at - serving.at)),
    ]


def _asked(notes: list[Note]) -> int:
    """Count the turns that asked for the conversation, in however many pages it came."""
    kinds = [note.kind for note in notes if note.kind in ("query", "turn")]
    return sum(pair == ("query", "turn") for pair in pairwise(kinds))
