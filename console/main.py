"""The `surefoot` command."""

import os
import sys
from contextlib import suppress
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from console.agents import agents_app
from console.approve import approve, deny
from console.artifacts import artifacts_app
from console.authority import authority_app
from console.cancel import cancel, cancel_call
from console.chat import chat
from console.codec_server import codec_server
from console.dev import dev
from console.doctor import doctor
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.keys import keys_app
from console.list_runs import list_runs
from console.mcp import mcp
from console.pause import pause, resume
from console.raise_limit import raise_limit
from console.run import run
from console.schedule import schedule_app
from console.send import send
from console.show import show
from console.slices import slices
from console.tools import tools_app
from console.watch import watch
from console.worker import worker
from workers.own_memory import keep_to_itself

app = typer.Typer(
    name="surefoot",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("surefoot"))
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """LLM agents as durable Temporal workflows, where any executable can be a tool."""


app.command("run")(run)
app.command("chat")(chat)
app.command("watch")(watch)
app.command("show")(show)
app.command("send")(send)
app.command("list")(list_runs)
app.command("approve")(approve)
app.command("deny")(deny)
app.command("cancel")(cancel)
app.command("cancel-call")(cancel_call)
app.command("pause")(pause)
app.command("resume")(resume)
app.command("raise-limit")(raise_limit)
app.command("slices")(slices)
app.command("worker")(worker)
app.command("dev")(dev)
app.command("doctor")(doctor)
app.command("mcp")(mcp)
app.command("codec-server")(codec_server)
app.add_typer(tools_app, name="tools")
app.add_typer(schedule_app, name="schedule")
app.add_typer(agents_app, name="agents")
app.add_typer(artifacts_app, name="artifacts")
app.add_typer(authority_app, name="authority")
app.add_typer(keys_app, name="keys")


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    _open_closed_streams()
    keep_to_itself()
    exit_code = _exit_code(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    # A short process that used the SDK can crash in its threads while the interpreter shuts down.
    os._exit(exit_code)


def _open_closed_streams() -> None:
    # Python has None for a stream that the caller closed, and a file opened later would take its number.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _exit_code(arguments: list[str]) -> int:
    try:
        result: object = app(arguments, prog_name="surefoot", standalone_mode=False)
    except CommandError as error:
        _complain(error.message)
        return error.exit_code
    except typer.TyperException as error:
        _complain(f"{_sentence(error)} (see `{_command(error)} --help`)")
        return ExitCode.USAGE
    except (typer.Abort, KeyboardInterrupt):
        return ExitCode.DETACHED
    except SystemExit as end:
        # How typer ends a command whose reader has left.
        return end.code if isinstance(end.code, int) else ExitCode.RUN_FAILED
    return result if isinstance(result, int) else ExitCode.DONE


def _complain(message: str) -> None:
    for line in message.splitlines():
        with suppress(OSError):
            print(f"surefoot: {line}", file=sys.stderr)  # noqa: T201  the one place where errors are printed


def _sentence(error: typer.TyperException) -> str:
    # Given to it by pydantic, which words a refusal of ours as an error of its own.
    return error.format_message().replace("Value error, ", "").rstrip(".") or "a command is missing"


def _command(error: typer.TyperException) -> str:
    """Give the command that was not understood, such as `surefoot tools call`."""
    context: object = getattr(error, "ctx", None)
    return str(getattr(context, "command_path", "surefoot"))
