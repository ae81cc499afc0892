"""`surefoot keys`: the keys that what runs say is encrypted with."""

import sys
from datetime import UTC, datetime

import typer

from console.entry import settings_or_complain
from console.exit_codes import ExitCode
from console.lines import write_line
from workers.encryption.configured_keys import configured_keys
from workers.encryption.keys import new_key

keys_app = typer.Typer(
    help="Make keys that what runs say is encrypted with, and tell which are set.",
    pretty_exceptions_enable=False,
)


@keys_app.command("new")
def print_new() -> int:
    """Print a new key as one line for a file of keys: ID:KEY. The first line of a file encrypts."""
    write_line(sys.stdout, new_key(datetime.now(UTC).date()))
    return ExitCode.DONE


@keys_app.command("list")
def print_list() -> int:
    """Print the ids of the keys that are set, the one that encrypts first; never the keys themselves."""
    ids = configured_keys(settings_or_complain()).key_ids
    if not ids:
        write_line(sys.stderr, "no key is set: what runs say is stored as it is")
    for number, key_id in enumerate(ids):
        write_line(sys.stdout, f"{key_id}  {'decrypts' if number else 'encrypts and decrypts'}")
    return ExitCode.DONE
