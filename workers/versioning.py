"""Which version of its code a worker serves, for servers that keep a run on one version."""

import asyncio
import time

from temporalio.api.workflowservice.v1 import DescribeWorkerDeploymentRequest
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import WorkerDeploymentConfig

from workers.settings import Settings

_KNOWN_WITHIN_SECONDS = 60
_ASK_AGAIN_SECONDS = 0.5


def deployment_version(settings: Settings) -> WorkerDeploymentVersion | None:
    """Give the version that the settings name; None if they name none."""
    if settings.deployment is None or settings.build_id is None:
        return None
    return WorkerDeploymentVersion(deployment_name=settings.deployment, build_id=settings.build_id)


def pinning(version: WorkerDeploymentVersion | None) -> WorkerDeploymentConfig | None:
    """Have runs stay with the version that they began with, until they continue as new."""
    if version is None:
        return None
    return WorkerDeploymentConfig(
        version=version,
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )


async def gets_new_runs(client: Client, version: WorkerDeploymentVersion) -> bool:
    """Tell whether new runs may begin on this version, as soon as the server knows it by its workers.

    True also where the server cannot tell.
    """
    request = DescribeWorkerDeploymentRequest(
        namespace=client.namespace, deployment_name=version.deployment_name
    )
    deadline = time.monotonic() + _KNOWN_WITHIN_SECONDS
    while time.monotonic() < deadline:
        try:
            described = await client.workflow_service.describe_worker_deployment(request)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                return True
        else:
            info = described.worker_deployment_info
            if version.build_id in {one.deployment_version.build_id for one in info.version_summaries}:
                routes = info.routing_config
                current, ramping = routes.current_deployment_version, routes.ramping_deployment_version
                return version.build_id in {current.build_id, ramping.build_id}
        await asyncio.sleep(_ASK_AGAIN_SECONDS)
    return True
