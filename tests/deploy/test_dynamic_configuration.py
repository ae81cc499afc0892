import mmap
from typing import Any

import yaml

from tests.deploy.stack import ROOT, SCRIPTS
from workers.tuning import DYNAMIC_CONFIGURATION

CONFIGURATION: dict[str, Any] = yaml.safe_load((ROOT / "deploy/dynamicconfig/docker.yaml").read_text())


def test_the_stack_is_tuned_like_the_embedded_server() -> None:
    everywhere: dict[str, str] = {}
    tuned = {
        key: [{"value": value, "constraints": everywhere}] for key, value in DYNAMIC_CONFIGURATION.items()
    }
    assert tuned == CONFIGURATION


def test_the_server_knows_every_key() -> None:
    # The server only warns of a key that it does not know, and goes on without the tuning.
    with (
        (SCRIPTS / "temporal").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program,
    ):
        unknown = [key for key in CONFIGURATION if program.find(key.encode()) < 0]
    assert unknown == []
