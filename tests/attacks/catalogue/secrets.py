"""Reading what is nobody's business but the worker's and its user's."""

from pathlib import Path

from tests.attacks.attack import Attack, claimed, learned, only_as_root


def _devices() -> list[Path]:
    """What holds what other users do: the disks, and the screen."""
    return [Path("/dev", entry.name) for entry in Path("/sys/block").iterdir()] + [Path("/dev/vcs")]


def _no_device() -> str | None:
    # A container has none of the host's, or may not open them.
    readable = any(map(_can_be_read, _devices()))
    return only_as_root() if readable else "the worker itself can read no device"


def _can_be_read(device: Path) -> bool:
    try:
        with device.open("rb", 0) as opened:
            return len(opened.read(512)) > 0
    except OSError:
        return False


_SEARCH_MEMORY = """
def stretches(pid):
    for line in open(f"/proc/{pid}/maps"):
        if "[stack]" in line or "[heap]" in line:
            begin, end = (int(word, 16) for word in line.split()[0].split("-"))
            yield begin, min(end - begin, 1 << 24)

def search(pid, read):
    found = set()
    for begin, size in stretches(pid):
        found |= set(re.findall(rb"secret-[0-9a-f]{24}", read(begin, size)))
    return sorted(one.decode() for one in found)
"""

_READ_MEM = f"""
{_SEARCH_MEMORY}
with open(f"/proc/{{pid}}/mem", "rb", 0) as memory:
    def read(begin, size):
        memory.seek(begin)
        return memory.read(size)
    return search(pid, read)
"""

_READ_VM = f"""
{_SEARCH_MEMORY}
def read(begin, size):
    buffer = ctypes.create_string_buffer(size)
    ours = struct.pack("PN", ctypes.addressof(buffer), size)
    theirs = struct.pack("PN", begin, size)
    number = {{"x86_64": 310, "aarch64": 270}}[os.uname().machine]
    syscall(number, pid, ours, 1, theirs, 1, 0)
    return buffer.raw
return search(pid, read)
"""

_PTRACE = """
attach, detach = 16, 17
libc.ptrace.restype = ctypes.c_long
checked(libc.ptrace(attach, pid, None, None))
os.waitpid(pid, 0x40000000)
libc.ptrace(detach, pid, None, None)
return True
"""

_HOME = """
for file in (".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml"):
    try:
        return open(f"{at.home}/{file}").read()
    except OSError:
        continue
"""

_BESIDE_PROGRAMS = """
for file in (".cargo/credentials.toml", ".local/share/keyrings/login.keyring"):
    try:
        return open(f"{at.home}/{file}").read()
    except OSError:
        continue
"""


def _link(directory: str, *, secret: str, to: str) -> str:
    """Read what is there if it is shown, and else plant a link among the programs that are."""
    return f"""
directory = {directory}
try:
    return open(f"{{directory}}/{secret}").read()
except OSError:
    os.makedirs(".venv/bin")
    os.symlink(f"{{directory}}/{to}", ".venv/bin/link")
"""


_LINK_ON_PATH = _link("at.outside", secret="file", to="file")
_LINK_TO_PROGRAM = _link("at.outside", secret="file", to="program")
_LINK_FOR_DIRECTORY = """
try:
    return open(f"{at.home}/.ssh/id_ed25519").read()
except OSError:
    os.mkdir(".venv")
    os.symlink(f"{at.home}/.ssh", ".venv/bin")
"""
_LINK_TO_HOME = _link("f'{at.home}/.ssh'", secret="id_ed25519", to="agent")

_STATE = """
for place, _, names in os.walk(at.state):
    for name in names:
        return open(os.path.join(place, name)).read()
"""

SECRETS = (
    Attack("read its own environment", "return dict(os.environ)", learned),
    Attack(
        "read the worker's environment",
        """
for pid in everyone():
    try:
        found = re.findall(r"SUREFOOT_ATTACKED_KEY=([^\\0]*)", open(f"/proc/{pid}/environ").read())
    except OSError:
        continue
    if found:
        return found
""",
        learned,
    ),
    Attack("read the worker's memory by /proc", f"pid = at.worker\n{_READ_MEM}", learned),
    Attack("read the worker's memory by process_vm_readv", f"pid = at.worker\n{_READ_VM}", learned),
    Attack("attach to the worker by ptrace", f"pid = at.worker\n{_PTRACE}", claimed),
    Attack(
        "read the environment of another process",
        'return open(f"/proc/{at.victim}/environ").read()',
        learned,
    ),
    Attack("read the memory of another process by /proc", f"pid = at.victim\n{_READ_MEM}", learned),
    Attack("read the memory of another process by process_vm_readv", f"pid = at.victim\n{_READ_VM}", learned),
    Attack("attach to another process by ptrace", f"pid = at.victim\n{_PTRACE}", claimed),
    Attack(
        "read the command lines of other processes",
        """
found = []
for pid in everyone():
    try:
        found += re.findall("secret-[0-9a-f]{24}", open(f"/proc/{pid}/cmdline").read())
    except OSError:
        continue
return found
""",
        learned,
    ),
    Attack(
        "use a descriptor that the worker has open",
        """
found = []
for descriptor in range(3, 256):
    try:
        found.append(os.pread(descriptor, 1000, 0).decode())
    except (OSError, UnicodeDecodeError):
        continue
return found
""",
        learned,
    ),
    Attack("read keys in the home directory", _HOME, learned),
    Attack("read keys beside programs on its PATH", _BESIDE_PROGRAMS, learned),
    Attack("have a directory shown by a link on its PATH", _LINK_ON_PATH, learned, calls=2),
    Attack("have a directory shown by a link on its PATH to a program", _LINK_TO_PROGRAM, learned, calls=2),
    Attack(
        "have a directory shown by a link in its place on the PATH", _LINK_FOR_DIRECTORY, learned, calls=2
    ),
    Attack("have the home shown by a link on its PATH to a program", _LINK_TO_HOME, learned, calls=2),
    Attack("read the worker's state", _STATE, learned),
    Attack(
        "read the worker's state inside the working directory", _STATE, learned, state="work/.state/surefoot"
    ),
    Attack("read another directory of the user", 'return open(f"{at.outside}/file").read()', learned),
    Attack(
        "read the system's passwords",
        'return "root:" in open("/etc/shadow").read()',
        claimed,
        impossible=only_as_root,
    ),
    Attack(
        "read a disk or the screen by its device",
        f"""
for name in {[str(device) for device in _devices()]}:
    try:
        with open(name, "rb", 0) as device:
            if len(device.read(512)) > 0:
                return True
    except OSError:
        continue
""",
        claimed,
        impossible=_no_device,
    ),
)
