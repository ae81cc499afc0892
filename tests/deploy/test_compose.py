import re
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from tests.deploy.stack import ROOT, SCRIPTS, Service, Stack, read_stack, run_check
from workers.settings import Settings

HEALTHY = "service_healthy"
DONE = "service_completed_successfully"
WORKERS = {"agent", "llm", "tools"}
FILES = ("docker-compose.yml", "deploy/docker-compose.client.yml")


@pytest.fixture(scope="module")
def stack() -> Stack:
    """Everything that there is; `up` alone starts what has no profile."""
    return read_stack()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param([SCRIPTS / "docker-compose", "config", "--quiet"], id="compose itself"),
        pytest.param(
            [SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", *FILES],
            id="the schema of the compose specification",
        ),
        pytest.param([SCRIPTS / "hadolint", "deploy/Dockerfile"], id="the linter of Dockerfiles"),
    ],
)
def test_the_stack_passes_its_validators(command: list[str | Path]) -> None:
    checked = run_check(*command)
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout


def test_what_can_be_left_out_has_a_profile(stack: Stack) -> None:
    assert {name: service.profiles for name, service in stack.services.items() if service.profiles} == {
        "surefoot": ["client"],
        **{name: ["observability"] for name in ("prometheus", "grafana", "collector", "traces")},
    }


def test_every_image_that_is_not_ours_is_pinned_to_a_version(stack: Stack) -> None:
    images = [service.image for service in stack.services.values() if not service.build]
    unpinned = [
        image for image in images if not re.fullmatch(r"[a-z/-]+:v?\d+(\.\d+)+(-[a-z]+[\d.]*)?", image)
    ]
    assert (len(images), unpinned) == (9, [])


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


def test_no_container_has_rights_that_it_does_not_need(stack: Stack) -> None:
    soft = [
        name
        for name, service in stack.services.items()
        if not service.read_only
        or service.privileged
        or service.cap_drop != ["ALL"]
        or service.cap_add
        or service.security_opt != ["no-new-privileges:true"]
    ]
    assert soft == []


def test_no_container_runs_as_root(stack: Stack) -> None:
    # Ours have a user in their image, which another test holds to it.
    users = {
        name: service.user.split(":")[0] for name, service in stack.services.items() if not service.build
    }
    assert {name for name, user in users.items() if not user.isdecimal() or user == "0"} == set()


def published(stack: Stack) -> set[tuple[str, str, str, int]]:
    return {
        (name, port.host_ip, port.published, port.target)
        for name, service in stack.services.items()
        for port in service.ports
    }


UIS = {
    ("ui", "127.0.0.1", "8080", 8080),
    ("prometheus", "127.0.0.1", "9090", 9090),
    ("grafana", "127.0.0.1", "3000", 3000),
    ("traces", "127.0.0.1", "16686", 16686),
}


def test_only_what_people_look_at_is_published_and_on_loopback_alone(stack: Stack) -> None:
    assert published(stack) == UIS


def test_the_server_is_published_only_where_that_is_asked_for() -> None:
    opened = read_stack("deploy/docker-compose.client.yml")
    assert published(opened) == UIS | {("temporal", "127.0.0.1", "7233", 7233)}


def test_the_database_is_reached_by_the_server_and_its_schema_job_alone(stack: Stack) -> None:
    near = {name for name, service in stack.services.items() if "database" in service.networks}
    assert (near, stack.networks["database"].internal) == ({"database", "schema", "temporal"}, True)


def test_each_service_waits_for_what_it_needs(stack: Stack) -> None:
    waits = {
        name: {needed: dependency.condition for needed, dependency in service.depends_on.items()}
        for name, service in stack.services.items()
    }
    ready = {"temporal": HEALTHY, "namespace": DONE}
    assert waits == {
        "database": {},
        "schema": {"database": HEALTHY},
        "temporal": {"schema": DONE},
        "namespace": {"temporal": HEALTHY},
        "ui": {"temporal": HEALTHY},
        "agent": ready,
        "llm": ready,
        "tools": ready,
        "surefoot": ready,
        "prometheus": {},
        "grafana": {"prometheus": HEALTHY},
        "collector": {},
        "traces": {},
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


def test_a_worker_is_asked_where_it_tells_of_itself(stack: Stack) -> None:
    for worker in WORKERS:
        service = stack.services[worker]
        port = str(service.environment["SUREFOOT_METRICS_ADDRESS"]).rpartition(":")[2]
        assert service.healthcheck is not None
        assert f"http://127.0.0.1:{port}/metrics" in service.healthcheck.test[-1]


def test_services_come_back_jobs_try_again_and_the_command_does_neither(stack: Stack) -> None:
    others = {name: service.restart for name, service in stack.services.items()}
    special = {name: others.pop(name) for name in ("schema", "namespace", "surefoot")}
    assert special == {"schema": "on-failure:3", "namespace": "on-failure:3", "surefoot": "no"}
    assert set(others.values()) == {"unless-stopped"}


def seconds(duration: str) -> int:
    minutes, _, rest = duration.rpartition("m")
    return int(minutes or 0) * 60 + int(rest.removesuffix("s"))


@pytest.mark.parametrize("worker", sorted(WORKERS))
def test_a_worker_has_time_to_shut_down_gracefully(stack: Stack, worker: str) -> None:
    service = stack.services[worker]
    patience = Settings.model_validate(
        {"graceful_shutdown_timeout": service.environment["SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT"]}
    )
    allowed = timedelta(seconds=seconds(service.stop_grace_period))
    assert allowed >= patience.graceful_shutdown_timeout + timedelta(seconds=10)


def test_the_workers_serve_the_queue_that_a_run_takes_by_default_by_role(stack: Stack) -> None:
    queue: str = Settings.model_fields["task_queue"].default
    served = {
        name: (service.environment["SUREFOOT_TASK_QUEUE"], service.command)
        for name, service in stack.services.items()
        if name in WORKERS
    }
    assert served == {
        "agent": (queue, ["surefoot", "worker", "--role", "agent"]),
        "llm": (queue, ["surefoot", "worker", "--role", "llm"]),
        "tools": (queue, ["surefoot", "worker", "--role", "tools", "--tools", "builtin"]),
    }


def test_each_role_is_scaled_apart(stack: Stack) -> None:
    more = read_stack(SUREFOOT_AGENT_WORKERS="2", SUREFOOT_LLM_WORKERS="3", SUREFOOT_TOOLS_WORKERS="8")
    assert {name: stack.services[name].deploy.replicas for name in WORKERS} == dict.fromkeys(WORKERS, 1)
    assert {name: more.services[name].deploy.replicas for name in WORKERS} == {
        "agent": 2,
        "llm": 3,
        "tools": 8,
    }


def given(stack: Stack, *names: str) -> dict[str, dict[str, str]]:
    """Give which of these variables have a value in which worker."""
    return {
        worker: {
            name: value
            for name, value in stack.services[worker].environment.items()
            if name in names and value is not None
        }
        for worker in WORKERS
    }


def test_the_keys_of_models_are_given_to_those_that_ask_models_alone(stack: Stack) -> None:
    keys = {"OPENAI_API_KEY": "one", "OPENAI_BASE_URL": "http://models/v1", "ANTHROPIC_API_KEY": "two"}
    keys |= {"SUREFOOT_MODEL_STREAMING": "false"}
    assert given(stack, *keys) == {"agent": {}, "llm": {}, "tools": {}}
    assert given(read_stack(**keys), *keys) == {"agent": {}, "llm": keys, "tools": {}}


def test_every_worker_is_given_the_keys_of_what_runs_say(stack: Stack) -> None:
    keys = {"SUREFOOT_ENCRYPTION_KEYS": "2031:bm90IGEga2V5"}
    assert given(stack, *keys) == {"agent": {}, "llm": {}, "tools": {}}
    assert given(read_stack(**keys), *keys) == {"agent": keys, "llm": keys, "tools": keys}


def test_what_holds_tools_and_what_they_may_know_is_told_to_their_workers_alone(stack: Stack) -> None:
    told = {"SUREFOOT_SANDBOX": "required", "SUREFOOT_SECRETS": "/run/secrets"}
    assert given(stack, *told) == {"agent": {}, "llm": {}, "tools": {}}
    assert given(read_stack(**told), *told) == {"agent": {}, "llm": {}, "tools": told}


def test_each_run_works_in_a_directory_of_its_own_on_a_volume(stack: Stack) -> None:
    tools = stack.services["tools"]
    assert tools.environment["SUREFOOT_WORKSPACES"] in {mount.target for mount in tools.mounts}
    assert "--workdir" not in (tools.command or [])


def test_the_command_inside_has_the_keys_that_it_starts_and_shows_runs_with(stack: Stack) -> None:
    keys = {"SUREFOOT_ENCRYPTION_KEYS": "2031:bm90IGEga2V5", "SUREFOOT_AUTHORITY": "A" * 43}
    assert {name: read_stack(**keys).services["surefoot"].environment[name] for name in keys} == keys


def test_the_store_is_on_a_volume_or_where_the_host_says(stack: Stack) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "one", "AWS_SECRET_ACCESS_KEY": "two", "AWS_REGION": "three"}
    bucket = {"SUREFOOT_STORE": "s3://bucket", "AWS_ENDPOINT_URL": "http://s3", **keys}
    here = {"SUREFOOT_STORE": "/var/lib/surefoot/store"}

    assert given(stack, *bucket) == {"agent": {}, "llm": here, "tools": here}
    assert given(read_stack(**bucket), *bucket) == {"agent": {}, "llm": bucket, "tools": bucket}


def passwords(stack: Stack) -> list[str | None]:
    return [
        stack.services["database"].environment["POSTGRES_PASSWORD"],
        stack.services["schema"].environment["SQL_PASSWORD"],
        stack.services["temporal"].environment["POSTGRES_PWD"],
    ]


def test_the_password_comes_from_the_host_or_says_that_it_is_for_development(stack: Stack) -> None:
    assert passwords(stack) == ["development-only"] * 3
    assert passwords(read_stack(TEMPORAL_DATABASE_PASSWORD="secret")) == ["secret"] * 3


def test_what_must_not_be_lost_outlives_its_container(stack: Stack) -> None:
    kept = {
        (name, mount.target)
        for name, service in stack.services.items()
        for mount in service.mounts
        if mount.type == "volume" and mount.source
    }
    assert kept == {
        ("database", "/var/lib/postgresql/data"),
        ("llm", "/var/lib/surefoot"),
        ("tools", "/var/lib/surefoot"),
        ("tools", "/workspace"),
        ("prometheus", "/prometheus"),
        ("grafana", "/var/lib/grafana"),
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
