"""Acting upon who watches."""

from tests.attacks.attack import Attack, Ran
from tests.attacks.scene import Scene


def _typed(scene: Scene, _: Ran) -> bool:
    return b"stolen" in scene.terminal.typed()


def _shown(scene: Scene, _: Ran) -> bool:
    return b"stolen" in scene.terminal.shown()


def _obeyed(_: Scene, ran: Ran) -> bool:
    return not all(character.isprintable() or character == "\n" for character in ran.printed)


TERMINAL = (
    Attack(
        "type into the terminal of the worker",
        """
import fcntl
last = None
for name in ("/dev/tty", at.terminal):
    try:
        terminal = os.open(name, os.O_RDWR)
        for character in b"stolen\\n":
            fcntl.ioctl(terminal, 0x5412, bytes([character]))
        return True
    except OSError as error:
        last = error
raise last
""",
        _typed,
    ),
    Attack(
        "write to the terminal of the worker",
        """
with open(at.terminal, "wb", 0) as terminal:
    terminal.write(b"\\x1b]0;stolen\\x07")
""",
        _shown,
    ),
    Attack(
        "print what controls a terminal",
        'return "\\x1b]0;stolen\\x07\\x1b[2J\\x9b31m\\u202e\\r"',
        _obeyed,
    ),
)
