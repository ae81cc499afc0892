"""`surefoot artifacts`: what was too large for a model, whole."""

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from activities.store.store import StoredObject
from console.ages import read_age
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.json_text import json_text
from console.lines import write_line
from console.safe_text import safe_text
from console.stored_artifacts import StoredArtifacts, stored_artifacts


class ArtifactsFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    JSON = "json"


IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The artifact's id, or its file's path.")]

artifacts_app = typer.Typer(
    help="Read back what was too large for a model.",
    pretty_exceptions_enable=False,
)


@artifacts_app.command("list")
def list_artifacts(
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only those of the run with this workflow id.")
    ] = None,
    output: Annotated[
        ArtifactsFormat, typer.Option("--output", "-o", help="What stdout carries.")
    ] = ArtifactsFormat.TEXT,
) -> int:
    """List the artifacts, the oldest first: id, size, and when it was stored."""
    artifacts = stored_artifacts()
    found = artifacts.listed(run)
    match output:
        case ArtifactsFormat.JSON:
            write_line(sys.stdout, json_text([_fields(artifacts, one) for one in found]))
        case ArtifactsFormat.TEXT:
            for line in _table(artifacts, found):
                write_line(sys.stdout, line)
    return ExitCode.DONE


@artifacts_app.command("get")
def get(
    artifact: IdArgument,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write it there instead of to stdout.")
    ] = None,
) -> int:
    """Print an artifact, byte for byte; on a terminal, without what would control it."""
    data = stored_artifacts().read(artifact)
    if output is not None:
        _write(output, data)
    elif sys.stdout.isatty():
        write_line(sys.stdout, safe_text(data.decode("utf-8", "replace")))
    else:
        _print(data)
    return ExitCode.DONE


@artifacts_app.command("path")
def path(artifact: IdArgument) -> int:
    """Print the path of an artifact's file, where the store is a directory."""
    write_line(sys.stdout, str(stored_artifacts().path(artifact)))
    return ExitCode.DONE


@artifacts_app.command("prune")
def prune(
    older_than: Annotated[str, typer.Option(metavar="AGE", help="Such as 90d, 12h or 2w.")],
    conversations: Annotated[
        bool,
        typer.Option(
            "--conversations",
            help="Kept conversations, too. A run that goes on needs its own, however old: choose an age that "
            "no run of yours reaches.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
) -> int:
    """Remove the artifacts that were stored before a time; nothing is removed by itself."""
    artifacts = stored_artifacts()
    try:
        before = datetime.now(UTC) - read_age(older_than)
    except OverflowError:
        raise CommandError(f"'{older_than}' is older than the calendar") from None
    found = artifacts.older(before, conversations=conversations)
    if not dry_run:
        artifacts.delete(found)
    removed, size_bytes = "would be removed" if dry_run else "removed", sum(one.size_bytes for one in found)
    things = "object" if conversations else "artifact"
    plural = "" if len(found) == 1 else "s"
    write_line(sys.stdout, f"{len(found)} {things}{plural} {removed}: {size_bytes:,} bytes")
    return ExitCode.DONE


def _fields(artifacts: StoredArtifacts, stored: StoredObject) -> dict[str, JsonValue]:
    identity, file = artifacts.identify(stored)
    return {
        "id": identity,
        "bytes": stored.size_bytes,
        "stored_at": stored.stored_at.isoformat(),
        "path": file,
    }


def _table(artifacts: StoredArtifacts, found: list[StoredObject]) -> Iterator[str]:
    rows = [("STORED", "BYTES", "ID"), *(_row(artifacts, one) for one in found)]
    width = max(len(size) for _, size, _ in rows)
    for stored_at, size, identity in rows:
        yield f"{stored_at:20}  {size:>{width}}  {identity}"


def _row(artifacts: StoredArtifacts, stored: StoredObject) -> tuple[str, str, str]:
    identity, _ = artifacts.identify(stored)
    return f"{stored.stored_at:%Y-%m-%d %H:%M:%SZ}", f"{stored.size_bytes:,}", safe_text(identity)


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise CommandError(
            f"{file} cannot be written: {error.strerror or error}", ExitCode.RUN_FAILED
        ) from error


def _print(data: bytes) -> None:
    try:
        sys.stdout.flush()
        left = memoryview(data)
        while left:
            left = left[os.write(sys.stdout.fileno(), left) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"what was to be printed is lost: {error.strerror}"
        raise CommandError(reason, ExitCode.RUN_FAILED) from error
