"""`surefoot approve` and `surefoot deny`: decide about a call that waits for approval."""

import sys
from typing import Annotated

import typer
from pydantic import JsonValue
from temporalio.client import Client

from console.approval_text import question_lines
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.lines import write_line
from console.options import AddressOption, RunArgument, SenderOption
from console.steer import steer
from console.tool_call import read_params
from console.typed_line import forget_typed, typed_line
from surefoot.ledger import ApprovalRequested
from surefoot.run import Approve, Deny
from workers.deciding import approve_call, deny_call, questions_of

CallArgument = Annotated[str, typer.Argument(metavar="CALL", help="The call, as `show` names it: 3-1.")]
HashOption = Annotated[
    str | None,
    typer.Option("--hash", metavar="SHA256", help="Of the params that are meant, as events have it."),
]


def approve(
    run: RunArgument,
    call: CallArgument,
    always: Annotated[
        bool, typer.Option("--always", help="And every call of the tool for the rest of the run.")
    ] = False,
    params: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Other params to make the call with; `-` reads them from stdin."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve it without being asked.")] = False,
    named_hash: HashOption = None,
    sender: SenderOption = None,
    address: AddressOption = None,
) -> int:
    """Let a tool call be made that waits for approval.

    It shows the call with all its arguments and asks, unless --yes or --hash is given. The exit code is 0
    once the run has taken it, 2 if it does not, 1 if no worker answers for the run, or if you say no.
    """
    edited: JsonValue = None if params is None else read_params(_given(params))
    by = checked_name("--from", sender)

    async def act(client: Client, workflow_id: str) -> None:
        question = await _question(client, workflow_id, call)
        if question is not None and not yes and named_hash is None:
            await _confirm()
        request = Approve(
            tool_exec_id=call,
            params_sha256=_hash(named_hash, question),
            scope="run" if always else "once",
            params=edited,
            by=by,
        )
        await approve_call(client, workflow_id, request)

    return steer(run, address, act, done="approved")


def deny(
    run: RunArgument,
    call: CallArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the model is told.")],
    named_hash: HashOption = None,
    sender: SenderOption = None,
    address: AddressOption = None,
) -> int:
    """Have a tool call not be made that waits for approval.

    It shows the call with all its arguments. The model is told TOOL_DENIED with the reason, and the run goes
    on. The exit code is 0 once the run has taken it, 2 if it does not, 1 if no worker answers for the run.
    """
    by = checked_name("--from", sender)

    async def act(client: Client, workflow_id: str) -> None:
        question = await _question(client, workflow_id, call)
        request = Deny(tool_exec_id=call, params_sha256=_hash(named_hash, question), reason=reason, by=by)
        await deny_call(client, workflow_id, request)

    return steer(run, address, act, done="denied")


async def _question(client: Client, workflow_id: str, call: str) -> ApprovalRequested | None:
    """Show what the run asks about a call; None if it does not, and then the run says best why."""
    waiting = await questions_of(client, workflow_id)
    question = next((one for one in waiting if one.tool_exec_id == call), None)
    if question is not None:
        for line in question_lines(question):
            write_line(sys.stderr, line)
    return question


async def _confirm() -> None:
    if not sys.stdin.isatty():
        raise CommandError("nobody can be asked here whether that call is meant: pass --yes, or its --hash")
    forget_typed(sys.stdin.fileno())
    sys.stderr.write("Approve it? [y/N] ")
    sys.stderr.flush()
    if (await typed_line(sys.stdin.fileno()) or "").lower() not in ("y", "yes"):
        raise CommandError("not approved; the call still waits", ExitCode.RUN_FAILED)


def _hash(named: str | None, question: ApprovalRequested | None) -> str:
    return named or (question.params_sha256 if question is not None else "")


def _given(params: str) -> str | bytes:
    return sys.stdin.buffer.read() if params == "-" else params
