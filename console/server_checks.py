"""What `surefoot doctor` looks at on a Temporal server."""

from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from console.findings import Finding, Verdict, fail, ok, warn
from workers.temporal import Temporal
from workers.wedged_runs import RunsLookedAt, WedgedRun, find_wedged_runs

_SHORT_RETENTION = timedelta(days=7)


async def server_findings(server: Temporal) -> list[Finding]:
    """Check a server that answers, and the runs in its namespace.

    Raises:
        RPCError: it stopped answering.
    """
    return [await _version(server), await _retention(server.client), *await _runs(server.client)]


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


async def _runs(client: Client) -> list[Finding]:
    try:
        looked = await find_wedged_runs(client)
    except RPCError as error:
        if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.PERMISSION_DENIED):
            return [fail("runs", f"cannot be listed: {error.message}")]
        raise
    return [*(_wedged(run) for run in looked.wedged), _summary(looked)]


def _summary(looked: RunsLookedAt) -> Finding:
    sentence = f"{looked.looked_at} open runs looked at, {len(looked.wedged)} cannot go on"
    if looked.more:
        return warn("runs", f"{sentence}; there are more, which were not looked at")
    return Finding(Verdict.FAIL if looked.wedged else Verdict.OK, "runs", sentence)


def _wedged(run: WedgedRun) -> Finding:
    sentence = (
        f"{run.workflow_id} cannot go on, its workflow task failed {run.attempts - 1} times: {run.reason}: "
        "start workers with code that fits, and it goes on by itself; or terminate it"
    )
    return Finding(Verdict.FAIL, "wedged run", sentence, wedged=run)
