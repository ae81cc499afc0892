"""One attack by a real tool of a real executor, or by a process that nothing holds."""

import json
import os
import subprocess
from typing import Literal, cast

from activities.interface import ToolCallInput
from activities.tools.executor import ToolExecutor
from activities.tools.sandbox.interpreters import installations
from activities.tools.sandbox.level import Level
from activities.tools.sandbox.sandbox import Sandbox
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import found
from tests.attacks.attack import Ran
from tests.attacks.printed import printed
from tests.attacks.scene import TOOL, Scene

Walls = Level | Literal["nothing"]
"""A level of the sandbox, or a plain process with all that its parent has."""

_PATIENCE_SECONDS = 20


async def carry_out(scene: Scene, walls: Walls) -> Ran:
    """Run the attack of a scene to its end, as often as it is called; gives how it ended at last."""
    for _ in range(scene.attack.calls - 1):
        await _call(scene, walls)
    return await _call(scene, walls)


async def _call(scene: Scene, walls: Walls) -> Ran:
    # What a worker knows of the machine, it has found after its start.
    installations.cache_clear()
    return _run_plainly(scene) if walls == "nothing" else await _run_as_a_tool(scene, walls)


async def _run_as_a_tool(scene: Scene, level: Level) -> Ran:
    sandbox = Sandbox(level, hidden=(scene.state,))
    executor = ToolExecutor(found(scene.tools), scene.work, _environment(scene), sandbox=sandbox)
    call = ToolCallInput(
        tool=TOOL,
        params=json.loads(json.dumps(scene.params)),
        call_id=f"{scene.mark}/1-1",
        timeout_seconds=scene.attack.timeout_seconds,
    )
    outcome = await executor.run(call)
    match outcome:
        case ToolSuccess(result=result):
            said = cast("dict[str, object]", result)
            return Ran(said["reached"], printed(outcome), str(said["refused"]))
        case ToolFailure(error=error, stderr=stderr):
            return Ran(None, printed(outcome), f"{error} {stderr}".strip(), answered=False)


def _environment(scene: Scene) -> dict[str, str]:
    return {**os.environ, "HOME": str(scene.home)}


def _run_plainly(scene: Scene) -> Ran:
    with subprocess.Popen(
        [scene.tools / TOOL, json.dumps(scene.params)],
        cwd=scene.work,
        env=_environment(scene),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        close_fds=False,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=_PATIENCE_SECONDS)
        finally:
            process.kill()
    if not stdout:
        return Ran(None, stdout, stderr, answered=False)
    said = json.loads(stdout)
    return Ran(said["reached"], f"{said['reached']}", said["refused"])
