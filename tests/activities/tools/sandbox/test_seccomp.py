import errno
import platform
import re
import struct
from pathlib import Path

import pytest

from activities.tools.sandbox import seccomp
from tests.activities.tools.sandbox.confined import in_a_child

_ALLOWED = "allowed"
_DONE_WITHOUT = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd"}
_OFFLINE = "seccomp.install(network=False)"
_ONLINE = "seccomp.install(network=True)"

# Generic numbers are those of every architecture that came late, aarch64 among them.
_HEADERS = {
    "x86_64": (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")),
    "aarch64": (Path("/usr/include/asm-generic/unistd.h"),),
}

here = pytest.mark.skipif(
    platform.machine() not in seccomp.ARCHITECTURES, reason="no filter is known for this machine"
)
on_x86 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="only x86_64 has ABIs of 32 bits beside it"
)


def _answer(
    machine: str, name: str, *arguments: int, network: bool = False, architecture: int | None = None
) -> str:
    """What the filter answers to a system call, by a reading of its instructions that is not the kernel's."""
    number = seccomp.NUMBERS[name][list(seccomp.ARCHITECTURES).index(machine)]
    assert number is not None
    called_by = seccomp.ARCHITECTURES[machine] if architecture is None else architecture
    data = struct.pack("<IIQ6Q", number, called_by, 0, *(*arguments, *[0] * 6)[:6])
    program = [struct.unpack("<HBBI", step) for step in seccomp.program(machine, network=network)]
    loaded = position = 0
    while True:
        code, if_true, if_false, value = program[position]
        position += 1
        match code:
            case 0x20:
                (loaded,) = struct.unpack_from("<I", data, value)
            case 0x15:
                position += if_true if loaded == value else if_false
            case 0x35:
                position += if_true if loaded >= value else if_false
            case 0x45:
                position += if_true if loaded & value else if_false
            case 0x06:
                return _ALLOWED if value == 0x7FFF0000 else errno.errorcode[value & 0xFFFF]
            case _:
                raise AssertionError(code)


def _names(machine: str) -> set[str]:
    column = list(seccomp.ARCHITECTURES).index(machine)
    return {name for name, numbers in seccomp.NUMBERS.items() if numbers[column] is not None}


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
@pytest.mark.parametrize("network", [False, True])
def test_what_no_tool_needs_is_refused_whatever_its_arguments(machine: str, network: bool) -> None:
    names = _names(machine) - {"clone", "unshare", "ioctl", "socket", "socketpair", "prlimit64"}
    answers = {
        (name, bits): _answer(machine, name, *[bits] * 6, network=network)
        for name in names
        for bits in (0, 2**64 - 1)
    }

    assert answers == {(name, bits): "ENOSYS" if name in _DONE_WITHOUT else "EPERM" for name, bits in answers}


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        pytest.param("clone", (0x11,), _ALLOWED, id="fork"),
        pytest.param("clone", (0x3D0F00,), _ALLOWED, id="a thread"),
        pytest.param("clone", (0x91,), _ALLOWED, id="bits of the signal are no time namespace"),
        pytest.param("clone", (0x10000011,), "EPERM", id="a user namespace"),
        pytest.param("clone", (0x20000011,), "EPERM", id="a PID namespace"),
        pytest.param("unshare", (0x400,), _ALLOWED, id="files of its own"),
        pytest.param("unshare", (0x10000000,), "EPERM", id="leave the user namespace"),
        pytest.param("unshare", (0x20000,), "EPERM", id="leave the mount namespace"),
        pytest.param("unshare", (0x80,), "EPERM", id="leave the time namespace"),
        pytest.param("ioctl", (0, 0x5401), _ALLOWED, id="ask a terminal for its attributes"),
        pytest.param("ioctl", (0, 0x5412), "EPERM", id="type into a terminal"),
        pytest.param("ioctl", (0, 0x541C), "EPERM", id="paste into a console"),
        pytest.param("ioctl", (0, 1 << 32 | 0x5412), "EPERM", id="type with bits that are passed over"),
        pytest.param("prlimit64", (0, 7), _ALLOWED, id="its own limits"),
        pytest.param("prlimit64", (1, 7), "EPERM", id="the limits of another process"),
    ],
)  # fmt: skip
def test_the_arguments_decide(machine: str, name: str, arguments: tuple[int, ...], expected: str) -> None:
    assert _answer(machine, name, *arguments) == expected


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
@pytest.mark.parametrize("name", ["socket", "socketpair"])
@pytest.mark.parametrize("network", [False, True])
def test_only_known_families_of_sockets_are_left(machine: str, name: str, network: bool) -> None:
    left = {family for family in range(64) if _answer(machine, name, family, network=network) == _ALLOWED}

    assert left == ({1, 2, 10, 16} if network else {1})


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_another_abi_is_refused_whole(machine: str) -> None:
    i386 = 0x40000003

    assert _answer(machine, "ioctl", architecture=i386) == "ENOSYS"


def test_the_filter_is_small() -> None:
    # The kernel takes up to 4096 instructions, and goes through them one by one.
    assert max(len(seccomp.program(machine, network=True)) for machine in seccomp.ARCHITECTURES) < 200


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_each_number_is_the_one_that_the_header_says(machine: str) -> None:
    header = next((path for path in _HEADERS[machine] if path.is_file()), None)
    if header is None:
        pytest.skip("the headers of this architecture are not installed")
    said = {
        name: int(number) for name, number in re.findall(r"define __NR_(\w+)\s+(\d+)", header.read_text())
    }
    column = list(seccomp.ARCHITECTURES).index(machine)
    ours = {name: numbers[column] for name, numbers in seccomp.NUMBERS.items()}

    # What came after the header was written is not in it.
    assert _names(machine) - set(said) <= {"open_tree_attr"}
    assert {name: ours[name] for name in ours if name in said} == {
        name: said[name] for name in ours if name in said
    }


# Each with what it gives in a child that is not confined, by which it is seen to be a real one.
_REFUSED = [
    pytest.param("socket.socket(socket.AF_INET).close()", None, "EPERM", id="TCP over IPv4"),
    pytest.param("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()", None, "EPERM", id="UDP"),
    pytest.param("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()", None, "EPERM", id="netlink"),
    pytest.param("socket.socket(socket.AF_VSOCK).close()", None, "EPERM", id="the host of a virtual machine"),
    pytest.param("return call(PTRACE, 0x4206, 0, 0, 0)", "ESRCH", "EPERM", id="ptrace"),
    pytest.param("return call(KEYCTL, 0, -3, 0)", int, "EPERM", id="the keys of the kernel"),
    pytest.param("return call(IO_URING_SETUP, 0, None)", "EFAULT", "ENOSYS", id="io_uring"),
    pytest.param("return call(BPF, 99, 0, 0)", "EINVAL", "EPERM", id="bpf"),
    pytest.param("return call(CLONE3, 0, 0)", "EINVAL", "ENOSYS", id="clone3"),
    pytest.param("return call(UNSHARE, 0x10000000)", 0, "EPERM", id="a user namespace"),
    pytest.param("return call(UNSHARE, 0x20000)", 0, "EPERM", id="a mount namespace"),
    pytest.param("return call(SETNS, -1, 0)", "EBADF", "EPERM", id="another namespace"),
    pytest.param("return call(PRLIMIT64, os.getppid(), 7, None, None)", 0, "EPERM", id="limits of another"),
    pytest.param("return call(IOCTL, 0, 0x5412, b'x')", "ENOTTY", "EPERM", id="typing into a terminal"),
    pytest.param("return call(PIDFD_GETFD, -1, 0, 0)", "EBADF", "EPERM", id="a descriptor of another"),
    pytest.param("return call(PROCESS_VM_READV, os.getppid(), None, 0, None, 0, 0)", 0, "EPERM", id="memory"),
]  # fmt: skip


def _with_numbers(attempt: str) -> str:
    column = list(seccomp.ARCHITECTURES).index(platform.machine())
    for name in sorted(seccomp.NUMBERS, key=len, reverse=True):
        attempt = attempt.replace(f"call({name.upper()},", f"call({seccomp.NUMBERS[name][column]},")
    return attempt


@here
@pytest.mark.parametrize(("attempt", "unconfined", "refused"), _REFUSED)
def test_a_real_process_is_refused(attempt: str, unconfined: object, refused: str) -> None:
    attempt = _with_numbers(attempt)

    answers = (in_a_child(attempt), in_a_child(attempt, confine=_OFFLINE))

    assert answers[0] == unconfined or (unconfined is int and isinstance(answers[0], int))
    assert answers[1] == refused


@here
def test_a_network_is_left_where_it_is_asked_for() -> None:
    attempt = """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        socket.create_connection(listening.getsockname()).close()
    return len(socket.if_nameindex()) > 0
    """

    assert (in_a_child(attempt, confine=_ONLINE), in_a_child(attempt, confine=_OFFLINE)) == (True, "EPERM")


@here
def test_what_tools_do_goes_on() -> None:
    attempt = """
    import resource, subprocess, threading
    threads = [threading.Thread(target=os.getpid) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, other = socket.socketpair()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    shell = ["/bin/sh", "-c", "ulimit -n 64; (cat /proc/self/comm | cat) & wait"]
    done = subprocess.run(shell, capture_output=True)
    return done.stdout.decode()
    """

    assert in_a_child(attempt, confine=_OFFLINE) == "cat\n"


@here
def test_a_child_is_held_as_its_parent() -> None:
    attempt = """
    if (child := os.fork()) == 0:
        try:
            socket.socket()
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    return errno.errorcode.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """

    assert in_a_child(attempt, confine=_OFFLINE) == "EPERM"


@on_x86
def test_a_call_of_32_bits_is_refused(tmp_path: Path) -> None:
    # mov eax, 20 (getpid on i386); int 0x80; ret
    attempt = """
    import mmap
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
    answer = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    return os.getpid() == answer or errno.errorcode[-answer]
    """

    answers = (in_a_child(attempt), in_a_child(attempt, confine=_OFFLINE))

    assert answers == (True, "ENOSYS")
