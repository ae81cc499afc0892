"""`surefoot chat`: talk with an agent at a terminal, or from a script."""

import logging
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TextIO

import typer

from activities.agents.agent_file import AgentFile
from console.agent_files import AgentOption, agent_or_complain
from console.agent_run import chosen_limits, say_whose_tools
from console.approval_options import (
    AfterUntrustedOption,
    ApprovalTimeoutOption,
    ApproveOption,
    OnApprovalOption,
    asked_approvals,
    refuse_unknown_tools,
)
from console.asked_place import AskedPlace, asked_place
from console.asked_run import (
    AskedRun,
    ModelOption,
    OnModelFailureOption,
    OutputSchemaOption,
    ProtocolOption,
    SystemOption,
    run_input,
)
from console.chat_text import ChatText, Growing
from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.given_text import checked_name
from console.jsonl import JsonlOutput
from console.limit_options import (
    MaxCost,
    MaxFailuresInARow,
    MaxInputTokens,
    MaxOutputTokens,
    MaxTime,
    MaxToolCalls,
    MaxTurns,
    read_period,
)
from console.masked_output import shown_to_people
from console.network_option import NetworkOption
from console.options import AddressOption, ToolsOption, WorkdirOption, WorkspaceOption
from console.output import Output, OutputFormat
from console.reducer_sources import ReducersOption
from console.resuming import resume_chat
from console.running import Embedded, NamedServer, RunCommand, carry_out
from console.signing import authority_key_or_complain
from console.talking import OwnMessages, Talk
from surefoot.run import Session
from workers.logging import configure_logging
from workers.starting import new_workflow_id

MAX_TURNS = 1_000
"""Turns of a whole conversation, where neither an option nor the agent's file says otherwise."""


class ChatFormat(StrEnum):
    """What `-o` takes."""

    TEXT = "text"
    JSONL = "jsonl"


def chat(
    agent: AgentOption = None,
    tools: ToolsOption = None,
    reducers: ReducersOption = None,
    model: ModelOption = None,
    protocol: ProtocolOption = None,
    system: SystemOption = None,
    output_schema: OutputSchemaOption = None,
    max_turns: MaxTurns = None,
    max_tool_calls: MaxToolCalls = None,
    max_input_tokens: MaxInputTokens = None,
    max_output_tokens: MaxOutputTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    max_failures_in_a_row: MaxFailuresInARow = None,
    on_model_failure: OnModelFailureOption = None,
    approve: ApproveOption = None,
    after_untrusted: AfterUntrustedOption = None,
    on_approval: OnApprovalOption = None,
    approval_timeout: ApprovalTimeoutOption = None,
    network: NetworkOption = None,
    workdir: WorkdirOption = None,
    workspace: WorkspaceOption = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="ID", help="Go on with a session that was left.")
    ] = None,
    idle: Annotated[
        float | None,
        typer.Option(
            "--idle",
            parser=read_period,
            metavar="TIME",
            help="How long the session waits for a message before it ends: 30m, 12h, 7d; for ever if unset.",
        ),
    ] = None,
    workflow_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The session's id in Temporal; made up if unset.")
    ] = None,
    output: Annotated[
        ChatFormat, typer.Option("--output", "-o", help="What stdout carries.")
    ] = ChatFormat.TEXT,
    address: AddressOption = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="The task queue of a `surefoot worker` on that server.")
    ] = None,
) -> int:
    """Talk with an agent: each message is answered, and the session waits for the next one.

    Each line is a message; one that ends with a backslash goes on with the next line, and lines that are
    pasted together are one. /end or the end of the input ends the session, with exit code 0. Ctrl-C leaves
    it as it is, with exit code 130; --resume goes on with it.

    The options are those of `surefoot run`; the limits count over the whole session.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    queue, workflow_id = checked_name("--queue", queue), checked_name("--workflow-id", workflow_id)
    named = address_or_complain(address)
    own = OwnMessages()
    shown = _shown(output, own)
    if resume is not None:
        given = {"--agent": agent, "--tools": tools, "--model": model, "--system": system, "--idle": idle}
        _refuse_with_resume({**given, "--workflow-id": workflow_id, "--queue": queue})
        wanted_id = checked_name("--resume", resume) or ""
        talk = _talk(shown, own, named, asks=output is ChatFormat.TEXT)
        return run_to_exit_code(
            lambda interrupt: resume_chat(wanted_id, talk, shown, settings, interrupt, address=named)
        )
    file = None if agent is None else agent_or_complain(agent)
    where = asked_place(
        AskedPlace(file, tools, reducers, workdir, queue, workspace=workspace), settings, address=named
    )
    limits = chosen_limits(
        file,
        max_turns=max_turns or _turns_of(file),
        max_tool_calls=max_tool_calls,
        max_input_tokens=max_input_tokens,
        max_output_tokens=max_output_tokens,
        max_cost=max_cost,
        max_seconds=max_time,
        failures_in_a_row=max_failures_in_a_row,
    )
    asked = AskedRun(
        "",
        file,
        limits,
        model=model,
        protocol=protocol,
        system=system,
        output_schema=output_schema,
        on_model_failure=on_model_failure,
        session=Session(idle_seconds=idle),
        approvals=asked_approvals(
            approve,
            on_approval,
            approval_timeout,
            OutputFormat(output),
            after_untrusted=after_untrusted,
        ),
        network=network,
    )
    if isinstance(where, Embedded):
        refuse_unknown_tools(asked.approvals.rules, where.tools)
    elif file is not None:
        say_whose_tools(file, where.queue)
    command = RunCommand(
        run_input(asked, settings, elsewhere=isinstance(where, NamedServer)),
        workflow_id or new_workflow_id(),
        where,
        detach=False,
        output=shown,
        talk=_talk(
            shown,
            own,
            named,
            asks=output is ChatFormat.TEXT and asked.approvals.on_approval == "wait",
        ),
    )
    return run_to_exit_code(lambda interrupt: carry_out(command, settings, interrupt))


def _shown(output: ChatFormat, own: OwnMessages) -> Output:
    match output:
        case ChatFormat.TEXT:
            return shown_to_people(ChatText(sys.stdout, sys.stderr, own=own, growing=_growing_on(sys.stderr)))
        case ChatFormat.JSONL:
            return JsonlOutput(sys.stdout, sys.stderr)


def _growing_on(stream: TextIO) -> Growing | None:
    if not stream.isatty():
        return None
    # It takes a while to load, and only a terminal needs it.
    from console.growing_text import growing_on

    return growing_on(stream)


def _talk(shown: Output, own: OwnMessages, address: str | None, *, asks: bool) -> Talk:
    """Give the conversation; `asks` is for calls of it that wait for approval, if somebody is there."""
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    asks = asks and interactive
    key = authority_key_or_complain() if asks else None
    return Talk(shown, own, address=address, interactive=interactive, asks=asks, key=key)


def _turns_of(agent: AgentFile | None) -> int | None:
    names = agent is not None and "max_turns" in agent.definition.limits.model_fields_set
    return None if names else MAX_TURNS


def _refuse_with_resume(given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise CommandError(f"--resume goes on with a session as it was started: leave {option} out")
