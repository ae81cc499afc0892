"""Taking more of the machine than a tool may have; each bomb has a bound of its own as well."""

from tests.attacks.attack import Attack, Ran
from tests.attacks.scene import Scene

_PROCESSES = 40
_MIB = 1 << 20


def _more_processes(_: Scene, ran: Ran) -> bool:
    return isinstance(ran.reached, int) and ran.reached > _PROCESSES


def _wrote_too_much(scene: Scene, _: Ran) -> bool:
    return max((file.stat().st_size for file in scene.work.glob("big*")), default=0) > 16 * _MIB


def _more_files(_: Scene, ran: Ran) -> bool:
    return isinstance(ran.reached, int) and ran.reached > 100


def _more_memory(_: Scene, ran: Ran) -> bool:
    return isinstance(ran.reached, int) and ran.reached > 256 * _MIB


def _more_time(_: Scene, ran: Ran) -> bool:
    return isinstance(ran.reached, float | int) and ran.reached > 2.5


_BOMB = """
children = []
try:
    while len(children) < 120:
        child = os.fork()
        if child == 0:
            time.sleep(5)
            os._exit(0)
        children.append(child)
    time.sleep(0.7)
finally:
    alive = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
    for child in alive:
        os.kill(child, signal.SIGKILL)
    for child in alive:
        os.waitpid(child, 0)
return len(alive)
"""

_TAKE = """
taken = []
for _ in range(384):
    part = mmap.mmap(-1, 1 << 20, flags=FLAGS)
    for page in range(0, 1 << 20, 4096):
        part[page] = 1
    taken.append(part)
time.sleep(3)
return len(taken) << 20
"""

RESOURCES = (
    Attack(
        "fork without end",
        _BOMB,
        _more_processes,
        manifest={"resources": {"processes": _PROCESSES}},
        may_end=True,
    ),
    Attack(
        "take memory without end",
        _TAKE.replace("FLAGS", "mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS"),
        _more_memory,
        manifest={"resources": {"memoryBytes": 256 * _MIB}},
        may_end=True,
    ),
    Attack(
        "take shared memory without end",
        _TAKE.replace("FLAGS", "mmap.MAP_SHARED | mmap.MAP_ANONYMOUS"),
        _more_memory,
        manifest={"resources": {"memoryBytes": 256 * _MIB}},
        may_end=True,
    ),
    Attack(
        "take memory in many processes",
        """
read, write = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        part = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, 64 << 20, 4096):
            part[page] = 1
        os.write(write, b"!")
        time.sleep(5)
        os._exit(0)
taken = sum(64 << 20 for _ in range(6) if os.read(read, 1))
time.sleep(3)
return taken
""",
        _more_memory,
        manifest={"resources": {"memoryBytes": 256 * _MIB}},
        may_end=True,
    ),
    Attack(
        "write a file without end",
        """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("big", "wb", 0) as file:
    for _ in range(32):
        file.write(bytes(1 << 20))
""",
        _wrote_too_much,
        manifest={"resources": {"fileSizeBytes": 16 * _MIB}},
        may_end=True,
    ),
    Attack(
        "open files without end",
        """
taken = []
try:
    while len(taken) < 200:
        taken.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
return len(taken)
""",
        _more_files,
        manifest={"resources": {"openFiles": 64}},
    ),
    Attack(
        "raise its own limits",
        """
for limit in ((200, 200), (150, 200)):
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    except (OSError, ValueError):
        continue
taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(120)]
return len(taken)
""",
        _more_files,
        manifest={"resources": {"openFiles": 64}},
    ),
    Attack(
        "compute without end",
        """
begun = time.process_time()
while time.process_time() - begun < 3:
    pass
return time.process_time() - begun
""",
        _more_time,
        manifest={"resources": {"cpuSeconds": 1}},
        may_end=True,
    ),
)
