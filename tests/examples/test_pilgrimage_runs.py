import re

import pytest

from tests.conftest import RealServer
from tests.console.command import ROOT, Ended
from tests.console.printed_example import carry_out
from tests.examples.pilgrimage_calls import EXAMPLE, always
from tests.examples.pilgrimage_services import Reply, Services

pytestmark = pytest.mark.slow

README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
CHECKS, RUN = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)


def shell(block: str, services: Services, server: RealServer) -> Ended:
    """Run what the README prints, in the root of the repository."""
    state = server.state_directory.parent
    return carry_out(block, directory=ROOT, state=state, **services.environment)


@pytest.mark.long
def test_the_readmes_tools_answer_as_it_says(services: Services, server: RealServer) -> None:
    ended = shell(CHECKS, services, server)

    tools = re.findall(r"^\| `\w+\.py`.* \| (`\w+`(?:, `\w+`)*) \|$", README, flags=re.MULTILINE)
    *checked, agent = [line for line in ended.stdout.splitlines() if line.startswith("ok: ")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(tools))) == [line.split()[1] for line in checked]
    assert agent.startswith("ok: examples/pilgrimage/guide.md ")
    assert '"name": "響け！ユーフォニアム"' in ended.stdout  # noqa: RUF001  a title
    assert '"nearest_point": "あじろぎの道"' in ended.stdout
    assert ended.exit_code == 0


@pytest.mark.parametrize(
    ("in_trouble", "answer"),
    [
        pytest.param(
            [],
            "Sound! Euphonium, by translator (2015-04-07) has 3 places, "
            "and あじろぎの道 is 0.65 km from 宇治駅.",
            id="all goes well",
        ),
        pytest.param(
            ["bangumi"],
            "I cannot plan it: Bangumi is asked too often: ask again in 90 s (rate_limited)",
            id="Bangumi wants to be left alone",
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_readmes_agent_tells_what_it_found(
    services: Services, server: RealServer, in_trouble: list[str], answer: str
) -> None:
    for service in in_trouble:
        services.trouble[service] = always(Reply({}, 429, {"Retry-After": "90"}))

    ended = shell(RUN, services, server)

    assert (ended.exit_code, ended.stdout) == (0, f"{answer}\n")
    assert "must not block" not in ended.stderr


def test_every_variable_that_the_tools_read_is_in_the_readme() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in EXAMPLE.glob("*.py"))
    read = set(re.findall(r"PILGRIMAGE_\w+", code))

    assert set(re.findall(r"`(PILGRIMAGE_\w+)`", README)) == read
