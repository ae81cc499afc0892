"""Writing where a tool has no business, above all into what the worker runs next."""

import sys

from tests.attacks.attack import Attack, Ran, claimed, only_as_root
from tests.attacks.scene import TOOL, Scene


def _outside_changed(scene: Scene, _: Ran) -> bool:
    return scene.changed(scene.outside / "file")


def _outside_grew(scene: Scene, _: Ran) -> bool:
    return (scene.outside / "new").exists()


def _tool_replaced(scene: Scene, _: Ran) -> bool:
    file = scene.tools / TOOL
    return not file.exists() or file.read_text() != scene.attack.script(sys.executable)


def _manifest_replaced(scene: Scene, _: Ran) -> bool:
    return (scene.tools / f"{TOOL}.tool.json").read_text().endswith("INJECTED")


def _tool_planted(scene: Scene, _: Ran) -> bool:
    return (scene.tools / "planted").exists()


def _home_grew(scene: Scene, _: Ran) -> bool:
    return (scene.home / ".bashrc").exists()


def _state_changed(scene: Scene, _: Ran) -> bool:
    return scene.changed(scene.state / "queues" / "run.json")


_IN_WORK = "work/project/tools"

_REWRITE = """
os.chmod(f"{at.tools}/attack", 0o755)
with open(f"{at.tools}/attack", "a") as file:
    file.write("\\n# INJECTED\\n")
"""

_REWRITE_MANIFEST = """
with open(f"{at.tools}/attack.tool.json", "a") as file:
    file.write(" INJECTED")
"""

_PLANT = """
with open(f"{at.tools}/planted", "w") as file:
    file.write("#!/bin/sh")
"""

_REPLACE = """
with open("made", "w") as file:
    file.write("#!/bin/sh INJECTED")
os.rename("made", f"{at.tools}/attack")
"""

_MOVE = """
os.rename(MOVED, f"{MOVED}-away")
os.makedirs(at.tools)
with open(f"{at.tools}/attack", "w") as file:
    file.write("#!/bin/sh INJECTED")
"""

_OWN_BWRAP = """
try:
    open(f"{at.outside}/new", "w").close()
except OSError:
    os.makedirs(".venv/bin")
    with open(".venv/bin/bwrap", "w") as file:
        file.write(f"#!/bin/sh\\ntouch {at.outside}/new\\nexec /usr/bin/bwrap \\"$@\\"\\n")
    os.chmod(".venv/bin/bwrap", 0o755)
"""

FILES = (
    Attack("write a file outside", 'open(f"{at.outside}/file", "w").write("x")', _outside_changed),
    Attack("make a file outside", 'open(f"{at.outside}/new", "w").write("x")', _outside_grew),
    Attack("remove a file outside", 'os.unlink(f"{at.outside}/file")', _outside_changed),
    Attack("truncate a file outside", 'os.truncate(f"{at.outside}/file", 0)', _outside_changed),
    Attack("write outside by ..", 'open("../outside/file", "w").write("x")', _outside_changed),
    Attack(
        "write outside by a symbolic link",
        'os.symlink(at.outside, "link")\nopen("link/file", "w").write("x")',
        _outside_changed,
    ),
    Attack(
        "write outside by a hard link",
        'os.link(f"{at.outside}/file", "link")\nopen("link", "w").write("x")',
        _outside_changed,
    ),
    Attack(
        "write outside by /proc/self/root",
        'open(f"/proc/self/root{at.outside}/file", "w").write("x")',
        _outside_changed,
    ),
    Attack("write outside by a bwrap of its own on the PATH", _OWN_BWRAP, _outside_grew, calls=2),
    Attack("leave a program in the home directory", 'open(f"{at.home}/.bashrc", "w").write("x")', _home_grew),
    Attack(
        "change the worker's state", 'open(f"{at.state}/queues/run.json", "w").write("x")', _state_changed
    ),
    Attack("rewrite its own executable", _REWRITE, _tool_replaced),
    Attack("replace its own executable by a rename", _REPLACE, _tool_replaced),
    Attack("rewrite its own manifest", _REWRITE_MANIFEST, _manifest_replaced),
    Attack("plant a tool beside it", _PLANT, _tool_planted),
    Attack(
        "rewrite its own executable inside the working directory", _REWRITE, _tool_replaced, tools=_IN_WORK
    ),
    Attack("plant a tool beside it inside the working directory", _PLANT, _tool_planted, tools=_IN_WORK),
    Attack(
        "move its directory away inside the working directory",
        _MOVE.replace("MOVED", "at.tools"),
        _tool_replaced,
        tools=_IN_WORK,
    ),
    Attack(
        "move the directory above it away inside the working directory",
        _MOVE.replace("MOVED", "os.path.dirname(at.tools)"),
        _tool_replaced,
        tools=_IN_WORK,
    ),
    Attack(
        "change a setting of the kernel",
        # It is opened, which takes all that writing does, and left as it is.
        'os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))\nreturn True',
        claimed,
        impossible=only_as_root,
    ),
    Attack(
        "write to a system directory",
        """
name = f"/usr/local/bin/{at.mark}"
open(name, "w").close()
os.unlink(name)
return True
""",
        claimed,
        impossible=only_as_root,
    ),
)
