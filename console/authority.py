"""`surefoot authority`: keys of people whose signed decisions runs take."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from console.errors import CommandError
from console.lines import write_line
from surefoot.authority import public_key_text
from workers.authority_key import AuthorityKeyError, make_key, read_key

authority_app = typer.Typer(
    help="Make keys that decisions about calls are signed with, and print what runs check them with.",
    pretty_exceptions_enable=False,
)

_FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The private key, in PEM.")]
_NameOption = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Whose it is; ledgers have it as who signed.")
]


@authority_app.command("new")
def new(file: _FileArgument, name: _NameOption = None) -> int:
    """Make a key: the private one goes to a new file that only you can read, the public one to stdout.

    Runs that are started with the public one in SUREFOOT_AUTHORITY take no unsigned decision on a call, and
    with SUREFOOT_AUTHORITY_KEY_FILE=FILE `surefoot approve` and `surefoot deny` sign theirs.
    """
    return _print_public(file, name, make=True)


@authority_app.command("show")
def show(file: _FileArgument, name: _NameOption = None) -> int:
    """Print the public key of a private one, as SUREFOOT_AUTHORITY takes it."""
    return _print_public(file, name, make=False)


def _print_public(file: Path, name: str | None, *, make: bool) -> int:
    if name is not None and re.fullmatch(r"[A-Za-z0-9_.@-]{1,64}", name) is None:
        raise CommandError("--name takes at most 64 letters, digits, and any of _ . @ -")
    try:
        key = make_key(file) if make else read_key(file)
    except AuthorityKeyError as error:
        raise CommandError(str(error)) from None
    write_line(sys.stdout, public_key_text(key.public, name))
    return 0
