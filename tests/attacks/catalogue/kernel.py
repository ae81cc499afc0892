"""Gaining rights, and parts of the kernel through which rights were gained before."""

import os
import subprocess
from pathlib import Path

from tests.attacks.attack import Attack, claimed, learned, only_as_root
from tests.attacks.shared import no_kernel_keys


def _no_namespaces() -> str | None:
    command = ["unshare", "--user", "--map-root-user", "--mount", "true"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return None if done.returncode == 0 else "this machine refuses user namespaces"


def _no_io_uring() -> str | None:
    setting = Path("/proc/sys/kernel/io_uring_disabled")
    return None if not setting.exists() or setting.read_text().strip() == "0" else "io_uring is switched off"


def _no_events() -> str | None:
    setting = Path("/proc/sys/kernel/perf_event_paranoid")
    if setting.exists() and int(setting.read_text()) < 2:
        return "this machine lets everybody watch them"
    return only_as_root()


KERNEL = (
    Attack(
        "use the capabilities of root",
        'return open("of-another-user").read()',
        learned,
        impossible=only_as_root,
    ),
    Attack(
        "regain capabilities by a program",
        """
checked(libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24)))
return subprocess.run(["./cat", "of-another-user"], capture_output=True, text=True).stdout
""",
        learned,
        impossible=only_as_root,
    ),
    Attack(
        "make a device file",
        """
os.mknod("device", 0o20666, os.makedev(1, 5))
return open("device", "rb").read(4) == bytes(4)
""",
        claimed,
        impossible=only_as_root,
    ),
    Attack(
        "mount in a user namespace of its own",
        """
checked(libc.unshare(0x10000000 | 0x00020000))
checked(libc.mount(b"none", at.work.encode(), b"tmpfs", 0, None))
return True
""",
        claimed,
        impossible=_no_namespaces,
    ),
    Attack(
        "make a user namespace by clone3",
        """
class Arguments(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in "flags pidfd child parent signal stack size tls".split()]
arguments = Arguments(flags=0x10000000, signal=17)
child = syscall(435, ctypes.byref(arguments), ctypes.sizeof(arguments))
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
return True
""",
        claimed,
        impossible=_no_namespaces,
    ),
    Attack(
        "use io_uring",
        "return syscall(425, 4, ctypes.create_string_buffer(120)) > 2",
        claimed,
        impossible=_no_io_uring,
    ),
    Attack(
        "read a key that the kernel keeps",
        """
keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
key = syscall(keyctl, 10, -4, b"user", at.mark.encode(), 0)
buffer = ctypes.create_string_buffer(1000)
syscall(keyctl, 11, key, buffer, 1000)
return buffer.value.decode()
""",
        learned,
        impossible=no_kernel_keys,
    ),
    Attack(
        "watch the kernel's events",
        """
perf_event_open = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
# Of software, how long this thread runs, in the kernel as well.
attributes = struct.pack("IIQ", 1, 128, 1) + bytes(112)
return syscall(perf_event_open, attributes, 0, -1, -1, 0) > 2
""",
        claimed,
        impossible=_no_events,
    ),
    Attack(
        "make system calls of another architecture",
        """
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# mov eax, 20 (getpid of 32 bits); int 0x80; ret
code.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
return call() == os.getpid()
""",
        claimed,
        impossible=lambda: None if os.uname().machine == "x86_64" else "only x86_64 has one",
    ),
)
