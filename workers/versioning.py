"""Which version of its code a worker serves, for servers that keep a run on one version."""

from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import WorkerDeploymentConfig

from workers.settings import Settings


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
