import subprocess
import sys

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.deploy.stack import read_stack
from workers.server_ports import free_port


def test_the_stack_takes_a_worker_for_healthy_once_it_asks_for_work(
    surefoot: Surefoot, server: RealServer
) -> None:
    check = read_stack().services["llm"].healthcheck
    assert check is not None
    port = free_port()
    program = check.test[-1].replace("9464", str(port))

    def ask() -> int:
        return subprocess.run(
            [sys.executable, "-c", program], stderr=subprocess.DEVNULL, check=False
        ).returncode

    before = ask()
    surefoot.start(
        *("worker", "--role", "llm", "--queue", "health", "--address", server.address),
        environment={"SUREFOOT_METRICS_ADDRESS": f"127.0.0.1:{port}"},
    ).until_it_says('"event": "serving"')

    assert (before, ask()) == (1, 0)
