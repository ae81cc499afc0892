import re
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement

from tests.deploy.stack import ROOT

DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text().replace("\\\n", " ")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def test_the_base_image_is_pinned_to_a_version() -> None:
    stages = {"base", "build"}
    bases = {line.split()[0] for line in instructions("FROM")} - stages
    assert [base for base in bases if not re.fullmatch(r"python:3\.11\.\d+-slim-[a-z]+", base)] == []


def test_the_worker_is_not_root() -> None:
    assert instructions("USER") == ["10001:10001"]


def test_pip_takes_nothing_from_an_index_without_its_hash() -> None:
    commands = re.findall(r"pip (?:install|wheel) [^&\n]*", DOCKERFILE)
    held = [
        "--require-hashes" in command or {"--no-index", "--no-deps"} <= set(command.split())
        for command in commands
    ]
    assert held == [True] * 4


def needed_to_build(name: str) -> Iterator[str]:
    yield name
    for line in requires(name) or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from needed_to_build(requirement.name)


def test_the_build_backend_is_taken_from_the_lock_with_all_that_it_needs() -> None:
    [pattern] = re.findall(r"wanted = /\^(.*?)==/", DOCKERFILE)
    assert sorted(pattern.strip("()").split("|")) == sorted(set(needed_to_build("hatchling")))


def test_the_build_context_holds_what_is_copied_and_no_more() -> None:
    copied = {source for line in instructions("COPY") if "--from" not in line for source in line.split()[:-1]}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    let_through = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert (copied, "*" in ignored) == (let_through, True)
    assert [name for name in copied if not Path(ROOT / name).exists()] == []
