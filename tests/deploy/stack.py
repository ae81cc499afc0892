"""The compose stack as an engine would get it: read, merged and interpolated by compose itself."""

import os
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, Field

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sysconfig.get_path("scripts"))


class Port(BaseModel):
    host_ip: str = ""
    published: str
    target: int


class Mount(BaseModel):
    type: str
    source: str
    target: str


class Dependency(BaseModel):
    condition: str


class Healthcheck(BaseModel):
    test: list[str] = []
    disable: bool = False


class Deploy(BaseModel):
    replicas: int = 1


class Service(BaseModel):
    image: str = ""
    build: dict[str, str] | None = None
    user: str = ""
    restart: str = ""
    stop_grace_period: str = "10s"
    read_only: bool = False
    privileged: bool = False
    cap_drop: list[str] = []
    cap_add: list[str] = []
    security_opt: list[str] = []
    profiles: list[str] = []
    entrypoint: list[str] | None = None
    command: list[str] | None = None
    environment: dict[str, str | None] = {}
    depends_on: dict[str, Dependency] = {}
    deploy: Deploy = Deploy()
    networks: dict[str, None] = {}
    tmpfs: list[str] = []
    healthcheck: Healthcheck | None = None
    ports: list[Port] = []
    mounts: list[Mount] = Field(default=[], alias="volumes")


class Network(BaseModel):
    internal: bool = False


class Stack(BaseModel):
    services: dict[str, Service]
    networks: dict[str, Network]


def run_check(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the environment's validators at the root of the repository."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


EVERY_PROFILE = ("--profile", "*")


def read_stack(*files: str, profiles: Sequence[str] = EVERY_PROFILE, **environment: str) -> Stack:
    """Give the stack as compose reads it in nothing but the given environment; with these files on top."""
    named = [option for file in files and ("docker-compose.yml", *files) for option in ("--file", file)]
    shown = subprocess.run(
        # Without the option compose would read a developer's own .env file.
        [
            SCRIPTS / "docker-compose",
            "--env-file",
            os.devnull,
            *named,
            *profiles,
            "config",
            "--format",
            "json",
        ],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return Stack.model_validate_json(shown.stdout)
