"""Signing decisions about calls, in runs that take no others."""

from datetime import timedelta
from typing import Annotated

import typer
from temporalio.client import Client

from console.errors import CommandError
from console.limit_options import read_period
from surefoot.approvals import params_sha256
from surefoot.events import ApprovalRequested
from surefoot.run import Approve, Deny
from workers.authority import authority_key_of
from workers.authority_key import VALIDITY, AuthorityKey
from workers.deciding import signed
from workers.settings import PREFIX, SettingsError, load_settings

KEY_SETTING = f"{PREFIX}AUTHORITY_KEY_FILE"

ValidOption = Annotated[
    float | None,
    typer.Option(
        "--valid",
        parser=read_period,
        metavar="TIME",
        help="How long the decision holds, where it is signed: 30s, 10m, 2h.",
        show_default="10m",
    ),
]
PrintOption = Annotated[
    bool,
    typer.Option(
        "--print",
        help="Send nothing: print the argument of the update, for the UI's form or another program.",
    ),
]


def authority_key_or_complain() -> AuthorityKey | None:
    """Give the key that the settings name; None if they name none.

    Raises:
        CommandError: it cannot be used.
    """
    try:
        return authority_key_of(load_settings())
    except SettingsError as error:
        raise CommandError(str(error)) from None


def why_not_signable(question: ApprovalRequested, key: AuthorityKey | None) -> str | None:
    """Say in a sentence why a decision about a call would not be taken from here; None if it may be."""
    if not question.signed:
        return None
    if key is None:
        return (
            f"decisions of this run must be signed: let {KEY_SETTING} name the file of a key of its "
            "authority, or ask who has one"
        )
    # Whoever answers for the run's workers tells both; what is signed is the hash alone.
    if params_sha256(question.params) != question.params_sha256:
        return "the params that are told are not those that would be signed: another answers for the run"
    return None


async def signed_if_asked(
    client: Client,
    workflow_id: str,
    request: Approve | Deny,
    question: ApprovalRequested,
    key: AuthorityKey | None,
    *,
    valid_seconds: float | None = None,
) -> Approve | Deny:
    """Give the decision with a token, where the run takes no other; raises as `find_run` does."""
    if key is None or not question.signed:
        return request
    validity = VALIDITY if valid_seconds is None else timedelta(seconds=valid_seconds)
    return await signed(client, workflow_id, request, key, validity=validity)
