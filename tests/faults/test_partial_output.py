import asyncio
import signal
import sys
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.conftest import RealServer
from tests.faults.deaths import Death, Place, Way, die

LONG_RUNNING = {"timeoutSeconds": 300}

WAYS = {
    "tool past its timeout": Way("TOOL_TIMEOUT", survives=True, manifest={"timeoutSeconds": 3}),
    "tool killed by a bad read": Way("TOOL_CRASHED", survives=True, lines=75),
    "worker stopped": Way("TOOL_INTERRUPTED", survives=True, signal=signal.SIGTERM, manifest=LONG_RUNNING),
    "worker killed": Way("TOOL_LOST", survives=False, signal=signal.SIGKILL, manifest=LONG_RUNNING),
    "worker frozen": Way("TOOL_LOST", survives=False, signal=signal.SIGSTOP, manifest=LONG_RUNNING),
    "worker killed close to the timeout": Way(
        "TOOL_TIMEOUT", survives=False, signal=signal.SIGKILL, manifest={"timeoutSeconds": 7}
    ),
}

SOON = {"heartbeatSeconds": 3, **LONG_RUNNING}
QUICK_WAYS = {
    "tool past its timeout": WAYS["tool past its timeout"],
    "tool killed by a bad read": WAYS["tool killed by a bad read"],
    "worker stopped": WAYS["worker stopped"],
    "worker killed": Way("TOOL_LOST", survives=False, signal=signal.SIGKILL, manifest=SOON),
}


@pytest.fixture
def places(tmp_path: Path, server: RealServer, client: Client) -> Generator[Mapping[str, Place]]:
    places = {name: Place(tmp_path / name, server, client) for name in WAYS}
    yield places
    for place in places.values():
        place.clean_up()


def check(way: Way, deaths: list[Death]) -> None:
    assert {death.error_code for death in deaths} == {way.error_code}
    due, arrived = sum(death.due for death in deaths), sum(death.arrived for death in deaths)
    assert due > 0
    assert arrived >= due if way.survives else arrived >= 0.99 * due


@pytest.mark.slow
async def test_what_a_dying_call_had_written_reaches_the_model(places: Mapping[str, Place]) -> None:
    async with asyncio.timeout(50):
        dying = [die(way, places[name], count=1) for name, way in QUICK_WAYS.items()]
        deaths = await asyncio.gather(*dying)

    for way, died in zip(QUICK_WAYS.values(), deaths, strict=True):
        check(way, died)


@pytest.mark.long
@pytest.mark.parametrize("name", WAYS)
async def test_what_twenty_dying_calls_had_written_reaches_the_model(
    places: Mapping[str, Place], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with asyncio.timeout(110):
        deaths = await die(WAYS[name], places[name], count=20)

    with capsys.disabled():
        sys.stdout.write(f"{row(name, deaths)}\n")
    check(WAYS[name], deaths)


def row(way: str, deaths: list[Death]) -> str:
    due, arrived = sum(death.due for death in deaths), sum(death.arrived for death in deaths)
    lag = max(death.lag_seconds for death in deaths)
    noticed = sorted(death.noticed_seconds for death in deaths)
    return (
        f"{way:<36}{len(deaths)} deaths, {arrived:>5} of {due:>5} lines ({arrived / due:.2%}), "
        f"lag at most {lag:.2f} s, noticed after {noticed[0]:.1f} to {noticed[-1]:.1f} s"
    )
