"""The compose stack as an engine would get it: read, merged and interpolated by compose itself."""

import os
import subprocess
import sysconfig
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
    test: list[str]


class Service(BaseModel):
    image: str = ""
    restart: str = ""
    stop_grace_period: str = "10s"
    command: list[str] | None = None
    environment: dict[str, str | None] = {}
    depends_on: dict[str, Dependency] = {}
    healthcheck: Healthcheck | None = None
    ports: list[Port] = []
    mounts: list[Mount] = Field(default=[], alias="volumes")


class Stack(BaseModel):
    services: dict[str, Service]


def run_check(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the environment's validators at the root of the repository."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)


def read_stack(**environment: str) -> Stack:
    """Give the stack as compose reads it in nothing but the given environment."""
    shown = subprocess.run(
        # Without the option compose would read a developer's own .env file.
        [SCRIPTS / "docker-compose", "--env-file", os.devnull, "config", "--format", "json"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    return Stack.model_validate_json(shown.stdout)
