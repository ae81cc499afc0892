import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from activities.tools.sandbox import landlock
from tests.activities.tools.sandbox.confined import in_a_child

_HEADER = Path("/usr/include/linux/landlock.h")

needs = pytest.mark.skipif(
    landlock.abi() < landlock.LEAST_ABI, reason="this kernel has no Landlock to hold with"
)


def _needs_abi(version: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        landlock.abi() < version, reason=f"this kernel's Landlock is older than {version}"
    )


@dataclass(frozen=True)
class Places:
    """Three directories: one is hidden, one may be read, one be written."""

    hidden: Path
    read: Path
    write: Path

    def confine(self, *, network: bool = False) -> str:
        # Python's own library is read while it runs.
        read = [str(self.read), sys.prefix, sys.base_prefix, "/usr", "/lib", "/etc", "/proc/self"]
        return f"landlock.restrict({read!r}, [{str(self.write)!r}], network={network})"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = Places(tmp_path / "hidden", tmp_path / "read", tmp_path / "write")
    for place in (places.hidden, places.read, places.write):
        place.mkdir()
        (place / "file").write_text(place.name)
        (place / "directory").mkdir()
        (place / "link").symlink_to(places.hidden / "file")
        program = place / "program"
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
    return places


_ATTEMPTS = {
    "read": "return open({file!r}).read()",
    "list": "return len(os.listdir({place!r})) > 0",
    "execute": "return os.spawnv(os.P_WAIT, {program!r}, ['program'])",
    "overwrite": "open({file!r}, 'w').write('x'); return 'done'",
    "append": "os.close(os.open({file!r}, os.O_APPEND | os.O_WRONLY)); return 'done'",
    "truncate": "os.truncate({file!r}, 0); return 'done'",
    "create": "open({new!r}, 'w').close(); return 'done'",
    "make a directory": "os.mkdir({new!r}); return 'done'",
    "make a symbolic link": "os.symlink('/etc', {new!r}); return 'done'",
    "make a socket": "socket.socket(socket.AF_UNIX).bind({new!r}); return 'done'",
    "make a pipe": "os.mkfifo({new!r}); return 'done'",
    "remove": "os.unlink({file!r}); return 'done'",
    "remove a directory": "os.rmdir({directory!r}); return 'done'",
    "rename": "os.rename({file!r}, {new!r}); return 'done'",
    "move out of": "os.rename({file!r}, {elsewhere!r}); return 'done'",
    "link out of": "os.link({file!r}, {elsewhere!r}); return 'done'",
    "follow a symbolic link": "return open({link!r}).read()",
    "make a device": "os.mknod({new!r}, 0o20666, os.makedev(1, 3)); return 'done'",
}

_READING = {"read", "list", "execute"}
_NOWHERE = {"follow a symbolic link", "make a device"}


def _attempt(what: str, place: Path, places: Places) -> str:
    return _ATTEMPTS[what].format(
        place=str(place),
        file=str(place / "file"),
        link=str(place / "link"),
        directory=str(place / "directory"),
        program=str(place / "program"),
        new=str(place / "new"),
        elsewhere=str(places.write / "elsewhere"),
    )


@needs
@pytest.mark.parametrize("what", _ATTEMPTS)
def test_what_is_not_granted_is_refused(what: str, places: Places) -> None:
    def attempt(place: Path) -> object:
        return in_a_child(_attempt(what, place, places), confine=places.confine())

    refused = {
        "hidden": what != "execute",
        "read": what not in _READING,
        "write": what in _NOWHERE,
    }
    answers = {name: attempt(getattr(places, name)) for name in refused}

    # A program that cannot be started ends its own process: the answer is then an exit code.
    assert {name: answer in ("EACCES", "EXDEV") for name, answer in answers.items()} == refused
    if what == "execute":
        assert answers == {"hidden": 127, "read": 3, "write": 3}


@needs
@pytest.mark.parametrize("what", [what for what in _ATTEMPTS if what != "make a device"])
def test_each_refused_attempt_works_unconfined(what: str, places: Places) -> None:
    answer = in_a_child(_attempt(what, places.hidden, places))

    assert answer in ("done", "hidden", True, 3)


@needs
def test_what_is_missing_is_passed_over(places: Places) -> None:
    missing = ["/no/such/directory", "/etc/hosts/below"]
    confine = f"landlock.restrict({missing!r}, [{str(places.write)!r}], network=False)"

    assert in_a_child(_attempt("create", places.write, places), confine=confine) == "done"


@needs
def test_one_file_can_be_granted(places: Places) -> None:
    confine = f"landlock.restrict([], [{str(places.hidden / 'file')!r}], network=False)"

    answers = {
        what: in_a_child(_attempt(what, places.hidden, places), confine=confine)
        for what in ("overwrite", "create")
    }

    assert answers == {"overwrite": "done", "create": "EACCES"}


@needs
def test_a_child_is_held_as_its_parent(places: Places) -> None:
    attempt = f"""
    if (child := os.fork()) == 0:
        try:
            open({str(places.hidden / "file")!r})
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    return errno.errorcode.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 'done')
    """

    assert in_a_child(attempt, confine=places.confine()) == "EACCES"


@pytest.fixture
def listener() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@_needs_abi(4)
@pytest.mark.parametrize(("network", "answer"), [(False, "EACCES"), (True, "done")])
def test_tcp_needs_the_network(network: bool, answer: str, places: Places, listener: int) -> None:
    attempts = (
        f"socket.create_connection(('127.0.0.1', {listener})).close(); return 'done'",
        "socket.create_server(('127.0.0.1', 0)).close(); return 'done'",
        # Binding to port 0 is done by listening, too.
        "socket.socket().bind(('127.0.0.1', 0)); return 'done'",
    )
    confine = places.confine(network=network)

    assert {in_a_child(attempt, confine=confine) for attempt in attempts} == {answer}


@_needs_abi(6)
def test_an_abstract_socket_outside_is_out_of_reach(places: Places) -> None:
    name = f"surefoot-{os.getpid()}"
    attempt = f"socket.socket(socket.AF_UNIX).connect('\\0{name}'); return 'done'"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()

        answers = (in_a_child(attempt), in_a_child(attempt, confine=places.confine(network=True)))

    assert answers == ("done", "EPERM")


@_needs_abi(6)
def test_no_process_outside_is_signalled(places: Places) -> None:
    with subprocess.Popen(["sleep", "60"]) as outside:
        attempt = f"os.kill({outside.pid}, 0); return 'done'"
        answers = (in_a_child(attempt), in_a_child(attempt, confine=places.confine()))
        outside.send_signal(signal.SIGKILL)

    assert answers == ("done", "EPERM")


@_needs_abi(6)
def test_one_that_is_kept_apart_reaches_nobody_behind_the_same_walls(places: Places) -> None:
    name = f"surefoot-apart-{os.getpid()}"
    attempt = f"""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind('\\0{name}')
    listening.listen()
    read, write = os.pipe()
    if os.fork() == 0:
        APART
        for attempt in (
            lambda: os.kill(os.getppid(), 0),
            lambda: socket.socket(socket.AF_UNIX).connect('\\0{name}'),
        ):
            try:
                attempt()
                os.write(write, b'done ')
            except OSError as error:
                os.write(write, f'{{errno.errorcode[error.errno]}} '.encode())
        os._exit(0)
    os.wait()
    return os.read(read, 100).decode()
    """

    answers = [
        in_a_child(attempt.replace("APART", apart), confine=places.confine())
        for apart in ("pass", "landlock.keep_apart()")
    ]

    assert answers == ["done done ", "EPERM EPERM "]


@_needs_abi(6)
def test_one_that_is_kept_apart_moves_files_between_its_directories(places: Places) -> None:
    source, target = str(places.write / "file"), str(places.write / "directory" / "file")
    attempt = f"os.rename({source!r}, {target!r}); return open({target!r}).read()"

    assert in_a_child(attempt, confine=f"{places.confine()}; landlock.keep_apart()") == "write"


@_needs_abi(6)
def test_one_that_is_kept_apart_has_its_files_and_its_children(places: Places) -> None:
    attempt = f"""
    if (child := os.fork()) == 0:
        import time
        time.sleep(60)
    os.kill(child, 9)
    os.wait()
    return open({str(places.hidden / "file")!r}).read()
    """

    assert in_a_child(attempt, confine="landlock.keep_apart()") == "hidden"


@needs
def test_its_own_children_are_signalled(places: Places) -> None:
    attempt = """
    if (child := os.fork()) == 0:
        import time
        time.sleep(60)
    os.kill(child, 9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    """

    assert in_a_child(attempt, confine=places.confine()) == -9


@needs
def test_the_memory_of_a_process_outside_is_out_of_reach(places: Places) -> None:
    # Neither has capabilities: CAP_PERFMON is asked before Landlock is, and reads all the same.
    outside = """
drop_capabilities()
import subprocess
outside = subprocess.Popen(['/bin/cat'], bufsize=0, stdin=-1, stdout=-1, env={'KEY': 'canary'})
outside.stdin.write(b'Are you there?')
outside.stdout.read(14)
"""
    confine = places.confine().replace("/proc/self", "/proc")
    attempt = "return open(f'/proc/{outside.pid}/environ').read()"

    answers = [in_a_child(attempt, confine=f"{outside}{more}") for more in ("", confine)]

    assert answers == ["KEY=canary\0", "EACCES"]


@needs
def test_no_new_privileges_come_with_it(places: Places) -> None:
    get_no_new_privileges = "return libc.prctl(39, 0, 0, 0, 0)"

    answers = [in_a_child(get_no_new_privileges, confine=confine) for confine in ("", places.confine())]

    assert answers == [0, 1]


@pytest.mark.skipif(not _HEADER.is_file(), reason="the kernel's headers are not installed")
def test_each_right_is_the_bit_that_the_header_says() -> None:
    said = {
        name: 1 << int(bit)
        for name, bit in re.findall(
            r"define LANDLOCK_(?:ACCESS_(?:FS|NET)_)?(\w+)\s+\(1ULL << (\d+)\)", _HEADER.read_text()
        )
    }
    ours = {name: value for name, value in vars(landlock).items() if name in said}

    assert len(ours) >= 14
    assert ours == {name: said[name] for name in ours}
