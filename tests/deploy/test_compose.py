import re
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from tests.deploy.stack import ROOT, SCRIPTS, Service, Stack, read_stack, run_check
from workers.settings import Settings

HEALTHY = "service_healthy"
DONE = "service_completed_successfully"


@pytest.fixture(scope="module")
def stack() -> Stack:
    return read_stack()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([SCRIPTS / "docker-compose", "config", "--quiet"], id="compose itself"),
        pytest.param(
            [SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"],
            id="the schema of the compose specification",
        ),
        pytest.param([SCRIPTS / "hadolint", "deploy/Dockerfile"], id="the linter of Dockerfiles"),
    ],
)
def test_the_stack_passes_its_validators(command: list[str | Path]) -> None:
    checked = run_check(*command)
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout


def test_every_image_is_pinned_to_a_version(stack: Stack) -> None:
    images = [service.image for service in stack.services.values() if service.image]
    unpinned = [image for image in images if not re.fullmatch(r"[a-z/-]+:\d+(\.\d+)+(-[a-z]+[\d.]*)?", image)]
    assert (len(images), unpinned) == (5, [])


def test_temporal_is_the_version_that_the_embedded_server_is(stack: Stack) -> None:
    images = {service.image for service in stack.services.values() if "temporalio" in service.image}
    embedded = subprocess.run(
        [SCRIPTS / "temporal", "--version"], stdout=subprocess.PIPE, text=True, check=True
    )
    found = re.search(r"Server ([\d.]+), UI ([\d.]+)", embedded.stdout)
    assert found is not None
    server, ui = found.groups()
    assert images == {
        f"temporalio/server:{server}",
        f"temporalio/admin-tools:{server}",
        f"temporalio/ui:{ui}",
    }


def test_only_the_server_and_the_ui_are_published_and_on_loopback_alone(stack: Stack) -> None:
    published = {
        (name, port.host_ip, port.published, port.target)
        for name, service in stack.services.items()
        for port in service.ports
    }
    assert published == {("temporal", "127.0.0.1", "7233", 7233), ("ui", "127.0.0.1", "8080", 8080)}


def test_each_service_waits_for_what_it_needs(stack: Stack) -> None:
    waits = {
        name: {needed: dependency.condition for needed, dependency in service.depends_on.items()}
        for name, service in stack.services.items()
    }
    assert waits == {
        "database": {},
        "schema": {"database": HEALTHY},
        "temporal": {"schema": DONE},
        "namespace": {"temporal": HEALTHY},
        "ui": {"temporal": HEALTHY},
        "worker": {"temporal": HEALTHY, "namespace": DONE},
    }


def test_whatever_is_waited_for_as_healthy_has_a_healthcheck(stack: Stack) -> None:
    awaited = {
        needed
        for service in stack.services.values()
        for needed, dependency in service.depends_on.items()
        if dependency.condition == HEALTHY
    }
    checked = {name for name, service in stack.services.items() if service.healthcheck}
    assert awaited - checked == set()


def test_services_come_back_and_jobs_try_again(stack: Stack) -> None:
    assert {name: service.restart for name, service in stack.services.items()} == {
        "database": "unless-stopped",
        "schema": "on-failure:3",
        "temporal": "unless-stopped",
        "namespace": "on-failure:3",
        "ui": "unless-stopped",
        "worker": "unless-stopped",
    }


def test_the_worker_has_time_to_shut_down_gracefully(stack: Stack) -> None:
    allowed = timedelta(seconds=int(stack.services["worker"].stop_grace_period.removesuffix("s")))
    assert allowed > Settings.model_fields["graceful_shutdown_timeout"].default


def test_the_worker_serves_the_queue_that_a_run_takes_by_default(stack: Stack) -> None:
    queue: str = Settings.model_fields["task_queue"].default
    command = ["surefoot", "worker", "--address", "temporal:7233", "--queue", queue, "--tools", "builtin"]
    assert stack.services["worker"].command == command


def given_to_worker(stack: Stack, *names: str) -> dict[str, str | None]:
    return {name: value for name, value in stack.services["worker"].environment.items() if name in names}


def test_the_keys_of_models_come_from_the_host_or_are_not_set(stack: Stack) -> None:
    keys = {"OPENAI_API_KEY": "one", "OPENAI_BASE_URL": "http://models/v1", "ANTHROPIC_API_KEY": "two"}
    assert given_to_worker(stack, *keys) == dict.fromkeys(keys)
    assert given_to_worker(read_stack(**keys), *keys) == keys


def test_the_store_is_on_a_volume_or_where_the_host_says(stack: Stack) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "two", "AWS_REGION": "three"}
    bucket = {"SUREFOOT_STORE": "s3://bucket", "AWS_ENDPOINT_URL": "http://s3", **keys}

    assert given_to_worker(stack, *bucket) == {
        **dict.fromkeys(bucket),
        "SUREFOOT_STORE": "/var/lib/surefoot/store",
    }
    assert given_to_worker(read_stack(**bucket), *bucket) == bucket


def passwords(stack: Stack) -> list[str | None]:
    return [
        stack.services["database"].environment["POSTGRES_PASSWORD"],
        stack.services["schema"].environment["SQL_PASSWORD"],
        stack.services["temporal"].environment["POSTGRES_PWD"],
    ]


def test_the_password_comes_from_the_host_or_says_that_it_is_for_development(stack: Stack) -> None:
    assert passwords(stack) == ["development-only"] * 3
    assert passwords(read_stack(TEMPORAL_DATABASE_PASSWORD="secret")) == ["secret"] * 3


def test_the_database_the_workspace_and_the_store_outlive_their_containers(stack: Stack) -> None:
    kept = {
        (name, mount.target)
        for name, service in stack.services.items()
        for mount in service.mounts
        if mount.type == "volume" and mount.source
    }
    assert kept == {
        ("database", "/var/lib/postgresql/data"),
        ("worker", "/workspace"),
        ("worker", "/var/lib/surefoot"),
    }


def test_every_file_that_is_mounted_exists(stack: Stack) -> None:
    # The engine would make an empty directory of a missing one, and the job would run that.
    bound = [mount for service in stack.services.values() for mount in service.mounts if mount.type == "bind"]
    assert [mount.source for mount in bound if not Path(mount.source).exists()] == []


def mounted_file(service: Service, path: str) -> Path:
    [source] = [
        Path(mount.source) / Path(path).relative_to(mount.target)
        for mount in service.mounts
        if Path(path).is_relative_to(mount.target)
    ]
    return source


def test_the_server_reads_the_dynamic_configuration_that_is_mounted(stack: Stack) -> None:
    server = stack.services["temporal"]
    path = server.environment["DYNAMIC_CONFIG_FILE_PATH"]
    assert path is not None
    assert mounted_file(server, path) == ROOT / "deploy/dynamicconfig/docker.yaml"
