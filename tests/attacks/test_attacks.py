"""What a tool may try, and what each level of the sandbox holds of it."""

import pytest

from activities.tools.sandbox import landlock, probe
from activities.tools.sandbox.level import LEVELS, Level
from tests.attacks.carrying_out import Walls
from tests.attacks.catalogue import ATTACKS
from tests.attacks.conftest import COLUMNS
from tests.attacks.documented import documented
from tests.attacks.suite import attacked

_ABI_OF_THE_TABLE = 6

_A_FEW = (
    "read the worker's environment",
    "read keys in the home directory",
    "write outside by a symbolic link",
    "rewrite its own executable",
    "send to a server by TCP",
    "end another process by a signal",
    "outlive its call in a session of its own",
)


def _skip_unless_offered(level: Level) -> None:
    if (reason := probe.why_not(level)) is not None:
        pytest.skip(f"this machine does not offer {level}: {reason}")
    if level == "landlock" and landlock.abi() < _ABI_OF_THE_TABLE:
        pytest.skip(f"the table is of Landlock {_ABI_OF_THE_TABLE}, and this kernel has {landlock.abi()}")


def _verdicts(walls: Walls, config: pytest.Config, *names: str) -> dict[str, str]:
    """What came of each attack that works on this machine at all."""
    seen = attacked(walls, *names)
    config.stash.setdefault(COLUMNS, {})[walls] = seen
    return {name: one.verdict for name, one in seen.items() if one.verdict != "impossible"}


def test_the_documented_table_is_of_these_attacks() -> None:
    names = [attack.name for attack in ATTACKS]

    assert {level: list(column) for level, column in documented().items()} == dict.fromkeys(LEVELS, names)
    assert len(set(names)) == len(names) > 24


def test_nothing_is_documented_to_leak_at_the_strongest_level() -> None:
    assert set(documented()["bwrap"].values()) == {"held"}


@pytest.mark.parametrize("level", LEVELS)
def test_a_few_attacks_end_as_documented(level: Level, request: pytest.FixtureRequest) -> None:
    _skip_unless_offered(level)

    seen = _verdicts(level, request.config, *_A_FEW)

    assert seen == {name: documented()[level][name] for name in seen}
    assert len(seen) == len(_A_FEW)


@pytest.mark.slow
def test_every_attack_succeeds_on_what_nothing_holds(request: pytest.FixtureRequest) -> None:
    seen = _verdicts("nothing", request.config)

    assert {name: verdict for name, verdict in seen.items() if verdict != "LEAKS"} == {}
    assert len(seen) > 24


# By itself: what is counted some times a second is counted late on a machine that does much else.
@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
def test_every_attack_ends_as_documented(level: Level, request: pytest.FixtureRequest) -> None:
    _skip_unless_offered(level)

    seen = _verdicts(level, request.config)

    assert seen == {name: documented()[level][name] for name in seen}
    assert len(seen) > 24
