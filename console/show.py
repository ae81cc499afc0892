"""`surefoot show`: what has happened in a run up to now."""

import logging
import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.exit_codes import ExitCode
from console.found_run import find
from console.given_text import checked_name
from console.jsonl import JsonlOutput
from console.lines import write_line
from console.markdown_output import MarkdownOutput
from console.masked_output import shown_to_people
from console.options import AddressOption, RevealOption
from console.output import Output, progress_on
from console.transcript_json import TranscriptJson
from console.transcript_text import TranscriptText
from console.watching import PATIENCE, watch_command
from workers.following import told_so_far
from workers.logging import configure_logging
from workers.settings import Settings
from workers.snapshot import Snapshot
from workers.temporal import temporal


class ShowFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    JSONL = "jsonl"


def show(
    workflow_id: Annotated[str, typer.Argument(metavar="WORKFLOW_ID", help="The run's id in Temporal.")],
    output: Annotated[
        ShowFormat, typer.Option("--output", "-o", help="How stdout carries it.")
    ] = ShowFormat.TEXT,
    reveal: RevealOption = False,
    address: AddressOption = None,
) -> int:
    """Show a run up to now, its prompt, its turns and what became of every tool call.

    It needs no worker: a run that nobody serves is read from its history. The exit code is 0 however the run
    ended, and 1 if nobody can tell what happened in it.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    named = address_or_complain(address)
    wanted = checked_name("the workflow id", workflow_id) or ""
    shown = _output(output, reveal=reveal)
    return run_to_exit_code(lambda _: _show(wanted, settings, named, shown))


def _output(output: ShowFormat, *, reveal: bool) -> Output:
    match output:
        case ShowFormat.TEXT:
            if sys.stdout.isatty():
                return progress_on(sys.stdout, answer=sys.stdout, keep_running=True, reveal=reveal)
            return shown_to_people(TranscriptText(sys.stdout), reveal=reveal)
        case ShowFormat.MARKDOWN:
            return shown_to_people(MarkdownOutput(sys.stdout), reveal=reveal)
        case ShowFormat.JSON:
            return TranscriptJson(sys.stdout)
        case ShowFormat.JSONL:
            return JsonlOutput(sys.stdout, sys.stderr)


async def _show(workflow_id: str, settings: Settings, address: str | None, output: Output) -> ExitCode:
    snapshot: Snapshot | None = None
    async with temporal(settings, address=address) as server:
        found = await find(server, workflow_id)
        try:
            output.begin(**found.named())
            async for seen in told_so_far(server.client, workflow_id, patience=PATIENCE):
                if isinstance(seen, Snapshot):
                    snapshot = seen
                else:
                    output.show(seen)
            output.end()
        except BrokenPipeError:
            # It was read as far as somebody wanted.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        again = watch_command(workflow_id, None if server.embedded else server.address)
    return _last_words(snapshot, again)


def _last_words(snapshot: Snapshot | None, again: str) -> ExitCode:
    """Say what stands beside a run that has no ending of its own in its ledger."""
    if snapshot is None:
        return ExitCode.DONE
    if snapshot.unreadable is not None:
        write_line(sys.stderr, f"surefoot: {snapshot.unreadable}")
        return ExitCode.RUN_FAILED
    if snapshot.closed_at is None:
        served = "" if snapshot.served else ", once somebody serves it"
        write_line(sys.stderr, f"the run goes on{served}; `{again}` follows it")
    return ExitCode.DONE
