"""Harming other processes, and going on when the call is over."""

from tests.attacks.attack import Attack, Ran, learned
from tests.attacks.scene import Scene


def _victim_died(scene: Scene, _: Ran) -> bool:
    return scene.victim.died()


def _victim_limited(scene: Scene, _: Ran) -> bool:
    return scene.victim.open_files() == (7, 7)


def _victim_slowed(scene: Scene, _: Ran) -> bool:
    return scene.victim.niceness() == 19


def _survived(scene: Scene, _: Ran) -> bool:
    return bool(scene.survivors())


# It does nothing but live, and no longer than any attack is waited for.
_SURVIVOR = """
def survive(environment):
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        command = [sys.executable, "-IS", "-c", "import time; time.sleep(30)", at.mark]
        os.execve(sys.executable, command, environment)
"""

_DETACH = f"""
{_SURVIVOR}
if os.fork() == 0:
    survive(os.environ)
    os._exit(0)
time.sleep(0.3)
"""

_KILL_SUPERVISOR = f"""
{_SURVIVOR}
supervisor = os.getppid()
if os.fork() == 0:
    survive({{}})
    os._exit(0)
time.sleep(0.3)
if supervisor != at.worker:
    os.kill(supervisor, signal.SIGKILL)
"""

_STOP_SUPERVISOR = f"""
{_SURVIVOR}
supervisor = os.getppid()
if os.fork() == 0:
    survive(os.environ)
    os._exit(0)
if supervisor != at.worker:
    os.kill(supervisor, signal.SIGSTOP)
time.sleep(3)
"""

_HOLD_ON = f"""
{_SURVIVOR}
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    survive(os.environ)
    os._exit(0)
time.sleep(3)
"""

PROCESSES = (
    Attack("end another process by a signal", "os.kill(at.victim, signal.SIGKILL)", _victim_died),
    Attack(
        "end another process by its descriptor",
        "signal.pidfd_send_signal(os.pidfd_open(at.victim), signal.SIGKILL)",
        _victim_died,
    ),
    Attack(
        "take resources from another process",
        "resource.prlimit(at.victim, resource.RLIMIT_NOFILE, (7, 7))",
        _victim_limited,
    ),
    Attack("slow another process down", "os.setpriority(os.PRIO_PROCESS, at.victim, 19)", _victim_slowed),
    Attack("outlive its call in a session of its own", _DETACH, _survived),
    Attack("outlive its call by ending its supervisor", _KILL_SUPERVISOR, _survived, may_end=True),
    Attack(
        "outlive its deadline by stopping its supervisor",
        _STOP_SUPERVISOR,
        _survived,
        timeout_seconds=1,
        may_end=True,
    ),
    Attack("outlive its deadline", _HOLD_ON, _survived, timeout_seconds=1, may_end=True),
    Attack(
        "read memory that other processes share",
        """
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(at.shared_memory, None, 0o10000)
if address == ctypes.c_void_p(-1).value:
    raise OSError(ctypes.get_errno(), "shmat")
return ctypes.string_at(address).decode()
""",
        learned,
    ),
    Attack(
        "read files of shared memory",
        'return open(f"/dev/shm/{at.mark}").read()',
        learned,
    ),
)
