"""What `surefoot doctor` looks at on a Temporal server."""

from datetime import UTC, datetime, timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from console.findings import Finding, fail, ok, warn
from console.run_checks import run_findings
from workers.process_table import command_line
from workers.search_attributes import missing_search_attributes
from workers.server_clock import server_clock
from workers.server_process import find_server
from workers.settings import Settings
from workers.state_directory import StateDirectory
from workers.temporal import Temporal
from workers.tuning import missing_tuning

_SHORT_RETENTION = timedelta(days=7)
_MOST_SKEW = timedelta(seconds=5)


async def server_findings(server: Temporal, settings: Settings) -> list[Finding]:
    """Check a server that answers, and the runs in its namespace.

    Raises:
        RPCError: it stopped answering.
    """
    client = server.client
    ahead = None if server.embedded else await _server_clock(client)
    now = datetime.now(UTC) + (ahead or timedelta())
    return [
        await _version(server),
        _tuning(settings) if server.embedded else _untold_tuning(),
        *([] if server.embedded else [clock_finding(ahead)]),
        await _retention(client),
        await _search_attributes(client),
        *await run_findings(server, settings.task_queue, now=now),
    ]


def no_server() -> list[Finding]:
    """Say what is not known while the embedded server is down."""
    return [
        ok("server", "the embedded server is not up; `surefoot run` and `surefoot dev` start it"),
        warn("runs", "not looked at: start `surefoot dev`, then ask again"),
    ]


async def _version(server: Temporal) -> Finding:
    answer = await server.client.workflow_service.get_system_info(GetSystemInfoRequest())
    kind = "the embedded server, " if server.embedded else ""
    where = f"at {server.address}, namespace {server.client.namespace}"
    return ok("server", f"{kind}Temporal {answer.server_version or 'of an unknown version'} {where}")


async def _retention(client: Client) -> Finding:
    try:
        described = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace)
        )
    except RPCError as error:
        return _no_namespace(error, client.namespace)
    kept = described.config.workflow_execution_retention_ttl.ToTimedelta()
    sentence = f"histories are kept for {kept / timedelta(days=1):g} days after a run's end"
    if kept < _SHORT_RETENTION:
        command = f"temporal operator namespace update -n {client.namespace} --retention 90d"
        return warn("retention", f"{sentence}: `{command}` keeps them for longer")
    return ok("retention", sentence)


def _no_namespace(error: RPCError, namespace: str) -> Finding:
    match error.status:
        case RPCStatusCode.NOT_FOUND:
            command = f"temporal operator namespace create -n {namespace} --retention 90d"
            return fail("retention", f"there is no namespace {namespace}: create it with `{command}`")
        case RPCStatusCode.PERMISSION_DENIED:
            return warn("retention", f"the namespace may not be described: {error.message}")
        case _:
            raise error


def _tuning(settings: Settings) -> Finding:
    server = find_server(StateDirectory(settings.state_directory).database)
    missing = missing_tuning(command_line(server.process_id) or "") if server is not None else ()
    if missing:
        return warn(
            "tuning",
            f"the embedded server was started without {', '.join(missing)}, and may be slow: end the "
            "commands that use it, and the next one starts it anew",
        )
    return ok("tuning", "the embedded server has the settings without which a turn waits for it")


def _untold_tuning() -> Finding:
    return ok(
        "tuning", "a server does not tell its dynamic configuration: docs/scaling.md has what ours is set to"
    )


async def _server_clock(client: Client) -> timedelta | None:
    try:
        return await server_clock(client)
    except RPCError as error:
        if error.status in (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED):
            raise
        return None


def clock_finding(ahead: timedelta | None) -> Finding:
    """Judge how far the server's clock is ahead; None is unknown."""
    if ahead is None:
        return warn("clock", "the server does not tell its time: compare it with `date` here by hand")
    seconds = ahead.total_seconds()
    if abs(ahead) <= _MOST_SKEW:
        return ok("clock", f"within {max(abs(seconds), 0.1):.1f}s of the server's")
    where = "behind" if seconds > 0 else "ahead of"
    return warn(
        "clock",
        f"this machine's clock is {abs(seconds):.0f}s {where} the server's: times of calls and expiries of "
        "approvals are off by as much; synchronise both with NTP",
    )


async def _search_attributes(client: Client) -> Finding:
    try:
        missing = await missing_search_attributes(client)
    except RPCError as error:
        if error.status in (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED):
            raise
        return warn("attributes", f"search attributes may not be listed, and runs set none: {error.message}")
    if missing:
        return warn(
            "attributes",
            f"the namespace lacks the search attributes {', '.join(sorted(missing))}, and runs are not found "
            "by them: docs/operations.md has the commands that create them",
        )
    return ok("attributes", "the namespace has all search attributes that runs are found by")
