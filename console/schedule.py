"""`surefoot schedule`: runs that the server starts by itself."""

from datetime import UTC, datetime, timedelta
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
)
from console.asked_run import (
    AskedRun,
    ModelOption,
    OnModelFailureOption,
    OutputSchemaOption,
    ProtocolOption,
    SystemOption,
    run_input,
)
from console.entry import address_or_complain, settings_or_complain
from console.errors import CommandError
from console.given_text import checked_name
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
from console.network_option import NetworkOption
from console.notify_option import NotifyOption, asked_notices, on_approval_when_told
from console.options import AddressOption, ReasonOption
from console.output import OutputFormat
from console.schedule_server import (
    Change,
    ScheduleFormat,
    change_on_server,
    create_on_server,
    list_on_server,
    show_on_server,
)
from console.schedule_times import (
    AtOption,
    CronOption,
    EveryOption,
    JitterOption,
    TimeZoneOption,
    chosen_times,
)
from workers.schedules import NewSchedule, Overlap

schedule_app = typer.Typer(help="Runs that the server starts by itself, at times of yours.")

_ScheduleArgument = Annotated[str, typer.Argument(metavar="ID", help="The schedule's id.")]
_FormatOption = Annotated[ScheduleFormat, typer.Option("--output", "-o", help="What stdout carries.")]
_NO_REASON = "no reason was given"


@schedule_app.command("create")
def create(
    schedule_id: _ScheduleArgument,
    prompt: Annotated[str, typer.Argument(help="What the agent is to do; `-` reads it from stdin.")],
    every: EveryOption = None,
    cron: CronOption = None,
    at: AtOption = None,
    time_zone: TimeZoneOption = None,
    jitter: JitterOption = None,
    overlap: Annotated[
        Overlap, typer.Option(help="What becomes of a start while the run before it goes on.")
    ] = "skip",
    catch_up: Annotated[
        float | None,
        typer.Option(
            parser=read_period,
            metavar="TIME",
            help="How late a run may start when no server was up.",
            show_default="1h",
        ),
    ] = None,
    agent: AgentOption = None,
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
    address: AddressOption = None,
    queue: Annotated[
        str | None, typer.Option(metavar="NAME", help="The task queue of a `surefoot worker` on that server.")
    ] = None,
) -> int:
    """Have the server start a run at these times, each as `surefoot run` would start it now.

    Its runs have the schedule's id and their time as ids. They are served by whoever serves the queue: on
    the embedded server that is `surefoot dev`, which has to be up. A call that needs approval is denied,
    unless --on-approval or --notify approval says that it waits.
    """
    settings = settings_or_complain()
    named, served = address_or_complain(address), checked_name("--queue", queue)
    if named is None and served is not None:
        raise CommandError("--queue names a worker on a server: pass --address too")
    file = None if agent is None else agent_or_complain(agent)
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
        # Nobody is at a terminal when its runs start.
        approvals=asked_approvals(
            approve,
            on_approval_when_told(on_approval, notices),
            approval_timeout,
            OutputFormat.JSON,
            after_untrusted=after_untrusted,
        ),
        notify=notices,
        network=network,
    )
    new = NewSchedule(
        checked_name("ID", schedule_id) or "",
        chosen_times(every=every, cron=cron, at=at, time_zone=time_zone, now=datetime.now(UTC)),
        run_input(asked, settings, elsewhere=named is not None),
        served or settings.task_queue,
        overlap,
        timedelta(seconds=catch_up) if catch_up is not None else timedelta(hours=1),
        timedelta(seconds=jitter) if jitter is not None else None,
    )
    if file is not None:
        say_whose_tools(file, new.queue)
    return create_on_server(new, settings, named)


@schedule_app.command("list")
def list_all(output: _FormatOption = ScheduleFormat.TEXT, address: AddressOption = None) -> int:
    """List the schedules of a server that start runs of agents."""
    return list_on_server(output, address)


@schedule_app.command("show")
def show(
    schedule_id: _ScheduleArgument,
    output: _FormatOption = ScheduleFormat.TEXT,
    address: AddressOption = None,
) -> int:
    """Show what a schedule starts, when next, and what it has started."""
    return show_on_server(schedule_id, output, address)


@schedule_app.command("pause")
def pause(schedule_id: _ScheduleArgument, reason: ReasonOption = None, address: AddressOption = None) -> int:
    """Start no runs until the schedule is resumed; runs that it has started go on."""
    note = checked_name("--reason", reason) or _NO_REASON
    change = Change(
        lambda handle: handle.pause(note=note), "paused", "schedule resume", "lets it start runs again"
    )
    return change_on_server(schedule_id, address, change)


@schedule_app.command("resume")
def resume(schedule_id: _ScheduleArgument, address: AddressOption = None) -> int:
    """Start runs again; what was missed meanwhile is not made up for."""
    change = Change(
        lambda handle: handle.unpause(note="resumed"),
        "resumed",
        "schedule show",
        "tells when it starts a run",
    )
    return change_on_server(schedule_id, address, change)


@schedule_app.command("trigger")
def trigger(schedule_id: _ScheduleArgument, address: AddressOption = None) -> int:
    """Start a run now, of a paused schedule too; while the run before it goes on, --overlap decides."""
    change = Change(
        lambda handle: handle.trigger(), "triggered", "schedule show", "names the run", starts=True
    )
    return change_on_server(schedule_id, address, change)


@schedule_app.command("delete")
def delete(schedule_id: _ScheduleArgument, address: AddressOption = None) -> int:
    """Delete a schedule; runs that it has started go on."""
    return change_on_server(schedule_id, address, Change(lambda handle: handle.delete(), "deleted"))
