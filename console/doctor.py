"""`surefoot doctor`: what of an installation works, and what to do about the rest."""

import sys
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer
from pydantic import JsonValue
from temporalio.service import RPCError

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.exit_codes import ExitCode
from console.findings import Finding, Verdict, fail, worst
from console.json_text import json_text
from console.lines import write_line
from console.machine_checks import machine_findings
from console.options import AddressOption
from console.server_checks import no_server, server_findings
from workers.connection import TemporalUnreachableError, connect
from workers.encryption.converter import data_converter
from workers.running_server import running_server
from workers.settings import Settings, SettingsError
from workers.temporal import Temporal


class DoctorFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    JSON = "json"


def doctor(
    address: AddressOption = None,
    output: Annotated[
        DoctorFormat, typer.Option("--output", "-o", help="What stdout carries.")
    ] = DoctorFormat.TEXT,
) -> int:
    """Check this installation, its server, and the runs there.

    Nothing is started but a call of bash, and nothing is changed. Exit 1 if a check fails, 4 if the server
    gives no answer.
    """
    settings, named = settings_or_complain(), address_or_complain(address)
    return run_to_exit_code(lambda _interrupt: _examine(settings, named, output))


async def _examine(settings: Settings, named: str | None, output: DoctorFormat) -> ExitCode:
    findings = await machine_findings(settings, named=named)
    unreachable = False
    try:
        server = await _server(settings, named)
        findings += await server_findings(server, settings) if server else no_server()
    except (TemporalUnreachableError, RPCError) as error:
        findings.append(fail("server", f"{str(error).rstrip('.')}; start it, or name another with --address"))
        unreachable = True
    except SettingsError as error:
        findings.append(fail("server", str(error)))
    _write(findings, output)
    if unreachable:
        return ExitCode.TEMPORAL_UNREACHABLE
    return ExitCode.RUN_FAILED if worst(findings) is Verdict.FAIL else ExitCode.DONE


async def _server(settings: Settings, named: str | None) -> Temporal | None:
    if named is None:
        return await running_server(settings)
    return Temporal(await connect(named, data_converter(settings)), named, settings.ui_url, embedded=False)


def _write(findings: list[Finding], output: DoctorFormat) -> None:
    match output:
        case DoctorFormat.JSON:
            write_line(sys.stdout, json_text(_fields(findings)))
        case DoctorFormat.TEXT:
            for finding in findings:
                write_line(sys.stdout, finding.line())


def _fields(findings: list[Finding]) -> JsonValue:
    return {
        "status": worst(findings).value,
        "checks": [
            {"status": one.verdict.value, "name": one.name, "sentence": one.sentence} for one in findings
        ],
        "wedged_runs": [asdict(one.wedged) for one in findings if one.wedged],
    }
