"""`surefoot run`: what was typed, checked and put together."""

import logging
from typing import Annotated

import typer

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
from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.given_text import checked_name
from console.limit_options import (
    MaxCost,
    MaxFailuresInARow,
    MaxInputTokens,
    MaxOutputTokens,
    MaxTime,
    MaxToolCalls,
    MaxTurns,
)
from console.network_option import NetworkOption
from console.notify_option import NotifyOption, asked_notices, on_approval_when_told, refuse_untold
from console.options import AddressOption, ToolsOption, WorkdirOption, WorkspaceOption
from console.output import OutputFormat, choose_output
from console.reducer_sources import ReducersOption
from console.running import Embedded, NamedServer, RunCommand, carry_out
from workers.logging import configure_logging
from workers.starting import new_workflow_id


def run(
    prompt: Annotated[str, typer.Argument(help="What the agent is to do; `-` reads it from stdin.")],
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
    notify: NotifyOption = None,
    workdir: WorkdirOption = None,
    workspace: WorkspaceOption = None,
    workflow_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The run's id in Temporal; made up if unset.")
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start the run and do not wait for it.")] = False,
    output: Annotated[
        OutputFormat, typer.Option("--output", "-o", help="What stdout carries.")
    ] = OutputFormat.TEXT,
    address: AddressOption = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="The task queue of a `surefoot worker` on that server.")
    ] = None,
    stay: Annotated[
        bool, typer.Option("--stay", help="Keep the embedded server and its UI up until Enter.")
    ] = False,
) -> int:
    """Run an agent to its answer.

    With --agent, model, protocol, system prompt, limits, output schema and tools are those of its file. An
    option that is given wins over the file's; --tools takes the place of all tools and servers in it.

    Without a server to connect to, the embedded one is used, with a worker inside this command.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    queue, workflow_id = checked_name("--queue", queue), checked_name("--workflow-id", workflow_id)
    named = address_or_complain(address)
    file = None if agent is None else agent_or_complain(agent)
    place = AskedPlace(file, tools, reducers, workdir, queue, stay=stay, workspace=workspace)
    where = asked_place(place, settings, address=named)
    notices = asked_notices(notify)
    asked = AskedRun(
        prompt,
        file,
        chosen_limits(
            file,
            max_turns=max_turns,
            max_tool_calls=max_tool_calls,
            max_input_tokens=max_input_tokens,
            max_output_tokens=max_output_tokens,
            max_cost=max_cost,
            max_seconds=max_time,
            failures_in_a_row=max_failures_in_a_row,
        ),
        model=model,
        protocol=protocol,
        system=system,
        output_schema=output_schema,
        on_model_failure=on_model_failure,
        approvals=asked_approvals(
            approve,
            on_approval_when_told(on_approval, notices),
            approval_timeout,
            output,
            after_untrusted=after_untrusted,
        ),
        notify=notices,
        network=network,
    )
    if isinstance(where, Embedded):
        refuse_untold(notices, settings)
        refuse_unknown_tools(asked.approvals.rules, where.tools)
    wanted = run_input(asked, settings, elsewhere=isinstance(where, NamedServer))
    if file is not None and isinstance(where, NamedServer):
        say_whose_tools(file, where.queue)
    command = RunCommand(
        wanted, workflow_id or new_workflow_id(), where, detach=detach, output=choose_output(output)
    )
    return run_to_exit_code(lambda interrupt: carry_out(command, settings, interrupt))
