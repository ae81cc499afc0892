"""A run as it was asked for on the command line, and the input that it is started with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from activities.agents.agent_file import AgentFile
from console.agent_run import chosen_protocol
from console.approval_options import NOTHING_ASKED, AskedApprovals
from console.errors import CommandError
from console.given_text import prompt_text, system_text
from console.network_option import chosen_network
from console.output_schema import read_output_schema
from surefoot.limits import Limits
from surefoot.protocol import Protocol
from surefoot.run import NoticeKind, OnModelFailure, RunInput, Session
from workers.authority import authority_of
from workers.models import SCRIPTED
from workers.settings import Settings, SettingsError

ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="scripted:FILE, openai-chat:NAME, anthropic:NAME, …"),
]
ProtocolOption = Annotated[
    Protocol | None,
    typer.Option("--protocol", help="How the model is told of its tools.", show_default="native"),
]
SystemOption = Annotated[
    Path | None,
    typer.Option("--system", metavar="FILE", help="A system prompt in place of the default."),
]
OutputSchemaOption = Annotated[
    Path | None,
    typer.Option("--output-schema", metavar="FILE", help="A JSON Schema that the final answer must fit."),
]
OnModelFailureOption = Annotated[
    OnModelFailure | None,
    typer.Option(
        "--on-model-failure", help="What becomes of the run if its model stays away.", show_default="fail"
    ),
]


@dataclass(frozen=True)
class AskedRun:
    """What was typed; where it is None, the agent's file decides, and then what every run has."""

    prompt: str
    agent: AgentFile | None
    limits: Limits
    model: str | None = None
    protocol: Protocol | None = None
    system: Path | None = None
    output_schema: Path | None = None
    on_model_failure: OnModelFailure | None = None
    session: Session | None = None
    approvals: AskedApprovals = NOTHING_ASKED
    notify: tuple[NoticeKind, ...] = ()
    network: Literal["on", "off"] | None = None


def run_input(asked: AskedRun, settings: Settings, *, elsewhere: bool) -> RunInput:
    """Give the input of the run, checked; `elsewhere` says that its script is for another machine.

    Raises:
        CommandError: with what cannot be used.
    """
    file, protocol = asked.agent, asked.protocol or chosen_protocol(asked.agent)
    try:
        return RunInput(
            prompt=prompt_text(asked.prompt),
            agent_name=file and file.definition.name,
            model=_model(asked, settings, elsewhere=elsewhere),
            protocol=protocol,
            system=system_text(asked.system) if asked.system is not None else file and file.system,
            output_schema=read_output_schema(asked.output_schema, protocol)
            if asked.output_schema is not None
            else file and file.definition.output_schema,
            limits=asked.limits,
            on_model_failure=asked.on_model_failure or (file and file.definition.on_model_failure) or "fail",
            session=asked.session,
            on_approval=asked.approvals.on_approval,
            approval_seconds=asked.approvals.seconds,
            approval=file.definition.approval if file is not None else {},
            approve=dict(asked.approvals.rules),
            authority=authority_of(settings),
            after_untrusted={
                **(file.definition.after_untrusted if file is not None else {}),
                **asked.approvals.after_untrusted,
            },
            network=chosen_network(asked.network, file and file.definition),
            notify=asked.notify,
            model_patience=settings.model_patience(),
        )
    except SettingsError as error:
        raise CommandError(str(error)) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = "" if first["type"] == "value_error" else f"{'.'.join(map(str, first['loc']))}: "
        raise CommandError(place + first["msg"].removeprefix("Value error, ")) from None


def _model(asked: AskedRun, settings: Settings, *, elsewhere: bool) -> str:
    if asked.model is None and asked.agent is not None and asked.agent.model is not None:
        return asked.agent.model
    name = asked.model or settings.model
    if not name:
        raise CommandError("no model is named: pass --model NAME, or set SUREFOOT_MODEL")
    if name.startswith(SCRIPTED) and not elsewhere:
        # Another command may go on with the run, from another directory.
        return SCRIPTED + str(Path(name.removeprefix(SCRIPTED)).absolute())
    return name
