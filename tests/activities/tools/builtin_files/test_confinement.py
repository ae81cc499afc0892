import errno
import os
import socket
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools.builtin_files.confinement import place_below
from activities.tools.builtin_files.contents import read_plain
from activities.tools.builtin_files.refusal import RefusalError, refusal_of
from tests.activities.tools.builtin_files.file_calls import ask, everything_in, open_descriptors, refused

OUTSIDE = "leads outside of the working directory"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("../secret", id="upwards"),
        pytest.param("sub/../../secret", id="upwards through a directory"),
        pytest.param("../here/kept", id="out and back in"),
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("{here}/../secret", id="absolute and upwards"),
        pytest.param("link", id="a link out"),
        pytest.param("absolute-link", id="an absolute link out"),
        pytest.param("directory-link/secret", id="through a linked directory"),
        pytest.param("directory-link/../kept", id="back from a linked directory"),
        pytest.param("chain", id="a link to a link out"),
        pytest.param("/proc/self/cwd/../secret", id="another name for it, and upwards"),
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "list_dir", "search"])
def test_no_path_leads_out_of_the_working_directory(here: Path, tool: str, path: str) -> None:
    (here / "kept").write_text("kept\n")
    (here / "sub").mkdir()
    for name, target in {
        "link": "../secret",
        "absolute-link": str(here.parent / "secret"),
        "directory-link": "..",
        "chain": "sub/../link",
    }.items():
        (here / name).symlink_to(target)
    before = everything_in(here.parent)
    params = {
        "write_file": {"content": "x"},
        "edit_file": {"old_string": "s", "new_string": "x"},
        "search": {"pattern": "s"},
    }

    code, error = refused(tool, path=path.format(here=here), **params.get(tool, {}))

    assert (code, OUTSIDE in error, everything_in(here.parent)) == ("invalid_input", True, before)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("sub/file", id="as it is"),
        pytest.param("./sub//./file", id="with more steps than it needs"),
        pytest.param("sub/../sub/file", id="up and down again"),
        pytest.param("link", id="a link"),
        pytest.param("absolute-link", id="an absolute link"),
        pytest.param("to-sub/file", id="through a linked directory"),
        pytest.param("to-sub/../sub/file", id="up from where a link leads"),
        pytest.param("{here}/sub/file", id="absolute"),
        pytest.param("{alias}/sub/file", id="absolute, by another name of the working directory"),
        pytest.param("/proc/self/cwd/sub/file", id="by the name that the system has for it"),
    ],
)
def test_every_way_to_a_file_inside_leads_to_it(here: Path, path: str) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "file").write_text("kept\n")
    (here / "link").symlink_to("sub/file")
    (here / "absolute-link").symlink_to(here / "sub" / "file")
    (here / "to-sub").symlink_to("./sub/")
    alias = here.parent / "alias"
    alias.symlink_to(here)

    assert ask("read_file", path=path.format(here=here, alias=alias))["content"] == "     1\tkept"


@pytest.mark.parametrize("kind", ["fifo", "socket"])
@pytest.mark.parametrize(
    ("tool", "params"),
    [
        pytest.param("read_file", {}, id="read_file"),
        pytest.param("write_file", {"content": "x"}, id="write_file"),
        pytest.param("edit_file", {"old_string": "s", "new_string": "x"}, id="edit_file"),
        pytest.param("search", {"pattern": "x"}, id="search"),
    ],
)
def test_what_is_no_plain_file_is_refused_and_not_waited_for(
    here: Path, tool: str, params: dict[str, object], kind: str
) -> None:
    if kind == "fifo":
        os.mkfifo("thing")
    else:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("thing")

    expected = ("invalid_input", f"'thing' is no file but a {kind}")
    assert refused(tool, path="thing", **params) == expected
    assert ask("search", pattern="x")["matches"] == []


def test_a_device_is_refused_before_it_is_opened() -> None:
    with place_below("/dev", "null") as place, pytest.raises(RefusalError, match="no file but a device"):
        read_plain(place)


@pytest.mark.parametrize(
    ("path", "code", "error"),
    [
        pytest.param("gone", "not_found", "there is no 'gone'", id="missing"),
        pytest.param("gone/file", "not_found", "there is no 'gone/file'", id="in a missing directory"),
        pytest.param("file/file", "invalid_input", "'file/file': Not a directory", id="below a file"),
        pytest.param("loop", "invalid_input", "Too many levels of symbolic links", id="a link to itself"),
        pytest.param("x" * 300, "invalid_input", "File name too long", id="a name that is too long"),
        pytest.param("a/" * 300 + "x", "invalid_input", "more than 200 directories deep", id="too deep"),
        pytest.param("a\0b", "invalid_input", "cannot hold a null character", id="a null character"),
        pytest.param(".", "invalid_input", "'.' is a directory", id="the working directory itself"),
    ],
)
def test_a_path_without_a_file_is_an_error_of_the_operation(
    here: Path, path: str, code: str, error: str
) -> None:
    (here / "file").write_text("kept\n")
    (here / "loop").symlink_to("loop")
    Path("/".join(["a"] * 220)).mkdir(parents=True)

    answered_code, answered_error = refused("read_file", path=path)

    assert (answered_code, error in answered_error) == (code, True)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(errno.EACCES, "invalid_input", id="no permission"),
        pytest.param(errno.EROFS, "invalid_input", id="a read-only file system"),
        pytest.param(errno.ENOSPC, "internal_error", id="a full disk"),
        pytest.param(errno.EIO, "internal_error", id="a broken disk"),
    ],
)
def test_what_the_system_says_is_told_with_its_code(number: int, code: str) -> None:
    refusal = refusal_of(OSError(number, "as the system words it"), "file")
    assert (refusal.error_code, refusal.error) == (code, f"'file': {os.strerror(number)}")


def test_no_race_with_a_link_leads_outside(here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "secret").write_text("kept\n")
    (here / "link").symlink_to("..")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for one, other in (("sub", "aside"), ("link", "sub"), ("sub", "link"), ("aside", "sub")):
                (here / one).rename(here / other)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        seen = {ask("read_file", path="sub/secret")["content"] for _ in range(1_000)}
    finally:
        over.set()
        swapping.join()

    assert seen <= {"", "     1\tkept"}


STEPS = st.sampled_from(["a", "b", "c", "..", ".", ""])
PATHS = st.lists(STEPS, min_size=1, max_size=6).map("/".join).filter(bool)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(links=st.dictionaries(st.sampled_from(["a", "b", "c", "a/b", "b/a"]), PATHS, max_size=4), path=PATHS)
def test_what_is_reached_is_what_the_system_reaches_and_always_inside(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, str], path: str
) -> None:
    above = tmp_path_factory.mktemp("above")
    root = above / "a"
    for directory in (root / "a", root / "b", above / "b", above / "c"):
        directory.mkdir(parents=True)
        (directory / "c").write_text(str(directory))
    for name, target in links.items():
        link = root / name
        if not link.exists() and not link.is_symlink() and link.parent.is_dir():
            link.symlink_to(f"{root}{target}" if target.startswith("/") else target)
    before = open_descriptors()

    try:
        with place_below(str(root), f"{root}{path}" if path.startswith("/") else path) as place:
            reached = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except (OSError, RefusalError):
        reached = None

    assert open_descriptors() == before
    if reached is not None:
        real = Path(os.path.realpath(f"{root}/{path}"))
        assert os.path.samestat(reached, real.stat())
        assert real == root or root in real.parents
