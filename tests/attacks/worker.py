"""A process that is attacked as a worker is: it has a key in its environment, and runs the tools.

    python -m tests.attacks.worker WALLS DIRECTORY [ATTACK…]

Prints a line of JSON for each attack.
"""

import asyncio
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from tests.attacks.attack import Attack
from tests.attacks.carrying_out import Walls, carry_out
from tests.attacks.catalogue import ATTACKS
from tests.attacks.scene import KEY, Scene, scene
from tests.attacks.terminal import Terminal, take_terminal
from workers.own_memory import keep_to_itself

_IN_MEMORY = os.environ.get(KEY)


async def main(walls: Walls, directory: Path, names: list[str]) -> None:
    """Carry out these attacks, or all of them."""
    if walls != "nothing":
        keep_to_itself()
    terminal = take_terminal()
    for number, attack in enumerate(ATTACKS):
        if not names or attack.name in names:
            seen = await _seen(attack, walls, directory / str(number), terminal)
            sys.stdout.write(json.dumps({"attack": attack.name, **seen}) + "\n")
            sys.stdout.flush()


async def _seen(attack: Attack, walls: Walls, directory: Path, terminal: Terminal) -> dict[str, object]:
    if (reason := attack.impossible()) is not None:
        return {"verdict": "impossible", "note": reason}
    with scene(directory, attack, terminal) as here, _programs_of(here):
        ran = await carry_out(here, walls)
        if attack.succeeded(here, ran):
            return {"verdict": "LEAKS", "note": str(ran.reached)}
        # One that never ran was not held.
        verdict = "held" if ran.answered or attack.may_end else "broken"
        return {"verdict": verdict, "note": ran.note}


@contextmanager
def _programs_of(here: Scene) -> Generator[None]:
    """Have a PATH of a developer's: the project's programs first, and at the end what is in the home."""
    own = os.environ["PATH"]
    added = (here.home / ".cargo/bin", here.home / ".local/bin")
    os.environ["PATH"] = ":".join([str(here.work / ".venv/bin"), own, *map(str, added)])
    try:
        yield
    finally:
        os.environ["PATH"] = own


if __name__ == "__main__":
    asyncio.run(main(cast("Walls", sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
