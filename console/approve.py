"""`surefoot approve` and `surefoot deny`: decide about a call that waits for approval."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import JsonValue
from temporalio.client import Client

from console.approval_text import question_lines
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.lines import write_line
from console.options import AddressOption, RevealOption, RunArgument, SenderOption
from console.signing import (
    PrintOption,
    ValidOption,
    authority_key_or_complain,
    signed_if_asked,
    why_not_signable,
)
from console.steer import steer
from console.tool_call import read_params
from console.typed_line import forget_typed, typed_line
from surefoot.events import ApprovalRequested
from surefoot.run import Approve, Deny
from surefoot.strict_json import encode_json
from workers.deciding import decide_call, questions_of

CallArgument = Annotated[str, typer.Argument(metavar="CALL", help="The call, as `show` names it: 3-1.")]
HashOption = Annotated[
    str | None,
    typer.Option("--hash", metavar="SHA256", help="Of the params that are meant, as events have it."),
]


@dataclass(frozen=True)
class _Asked:
    """A decision as it was typed; its hash is empty where the question is to give it."""

    request: Approve | Deny
    confirm: bool
    reveal: bool
    prints: bool
    valid_seconds: float | None


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
    reveal: RevealOption = False,
    prints: PrintOption = False,
    valid: ValidOption = None,
    address: AddressOption = None,
) -> int:
    """Let a tool call be made that waits for approval.

    It shows the call with all its arguments and asks, unless --yes or --hash is given. Where the run takes
    only signed decisions, SUREFOOT_AUTHORITY_KEY_FILE names the key. The exit code is 0 once the run has
    taken it, 2 if it does not, 1 if no worker answers for the run, or if you say no.
    """
    edited: JsonValue = None if params is None else read_params(_given(params))
    request = Approve(
        tool_exec_id=call,
        params_sha256=named_hash or "",
        scope="run" if always else "once",
        params=edited,
        by=checked_name("--from", sender),
    )
    confirm = not yes and named_hash is None
    asked = _Asked(request, confirm=confirm, reveal=reveal, prints=prints, valid_seconds=valid)
    return _decide(run, asked, address, done="approved")


def deny(
    run: RunArgument,
    call: CallArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the model is told.")],
    named_hash: HashOption = None,
    sender: SenderOption = None,
    reveal: RevealOption = False,
    prints: PrintOption = False,
    valid: ValidOption = None,
    address: AddressOption = None,
) -> int:
    """Have a tool call not be made that waits for approval.

    It shows the call with all its arguments. The model is told TOOL_DENIED with the reason, and the run goes
    on. Where the run takes only signed decisions, SUREFOOT_AUTHORITY_KEY_FILE names the key. The exit code
    is 0 once the run has taken it, 2 if it does not, 1 if no worker answers for the run.
    """
    by = checked_name("--from", sender)
    request = Deny(tool_exec_id=call, params_sha256=named_hash or "", reason=reason, by=by)
    asked = _Asked(request, confirm=False, reveal=reveal, prints=prints, valid_seconds=valid)
    return _decide(run, asked, address, done="denied")


def _decide(run: str, asked: _Asked, address: str | None, *, done: str) -> int:
    key = authority_key_or_complain()

    async def act(client: Client, workflow_id: str) -> None:
        request = asked.request
        question = await _question(client, workflow_id, request.tool_exec_id, reveal=asked.reveal)
        if question is not None:
            if (reason := why_not_signable(question, key)) is not None:
                raise CommandError(reason)
            if asked.confirm:
                await _confirm()
            if not request.params_sha256:
                request = request.model_copy(update={"params_sha256": question.params_sha256})
            request = await signed_if_asked(
                client, workflow_id, request, question, key, valid_seconds=asked.valid_seconds
            )
        if not asked.prints:
            # Where nothing is asked about the call, the run says best why.
            await decide_call(client, workflow_id, request)
        elif question is None:
            raise CommandError(f"no tool call '{request.tool_exec_id}' of that run waits for approval")
        else:
            write_line(sys.stdout, encode_json(request.model_dump(mode="json")))

    return steer(run, address, act, done="not sent" if asked.prints else done)


async def _question(client: Client, workflow_id: str, call: str, *, reveal: bool) -> ApprovalRequested | None:
    """Show what the run asks about a call; None if it does not."""
    waiting = await questions_of(client, workflow_id)
    question = next((one for one in waiting if one.tool_exec_id == call), None)
    if question is not None:
        for line in question_lines(question, reveal=reveal):
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


def _given(params: str) -> str | bytes:
    return sys.stdin.buffer.read() if params == "-" else params
