"""Which calls need approval."""

import pytest
from pydantic import JsonValue, TypeAdapter, ValidationError

from surefoot.approval import Approval, Approvals, ruling, unknown_tools, why_to_ask

APPROVAL: TypeAdapter[Approval] = TypeAdapter(Approval)
APPROVALS: TypeAdapter[Approvals] = TypeAdapter(Approvals)
RISKY = {"when": {"properties": {"command": {"pattern": r"\b(rm|sudo)\b"}}, "required": ["command"]}}


def asks(rule: JsonValue, params: dict[str, JsonValue], destructive: bool | None = None) -> bool:
    why = why_to_ask(
        APPROVAL.validate_python(rule), params, destructive=destructive, directory="/srv/project"
    )
    return why is not None


@pytest.mark.parametrize(
    ("rule", "params", "destructive", "expected"),
    [
        pytest.param("never", {"path": "/etc"}, True, False, id="never"),
        pytest.param("always", {}, None, True, id="always"),
        pytest.param("destructive", {}, True, True, id="a tool that says it destroys"),
        pytest.param("destructive", {}, False, False, id="a tool that says it does not destroy"),
        pytest.param("destructive", {}, None, False, id="a tool that says nothing of destroying"),
        pytest.param("first-use", {}, None, True, id="a tool that was not approved yet"),
        pytest.param(RISKY, {"command": "sudo ls"}, None, True, id="params that fit"),
        pytest.param(RISKY, {"command": "ls /tmp/rmdir"}, None, False, id="params that do not fit"),
        pytest.param(RISKY, {"cmd": "sudo"}, None, False, id="params without the field"),
        pytest.param("outside-workdir", {"path": "a/b.txt"}, None, False, id="a path below"),
        pytest.param("outside-workdir", {"path": "/srv/project/a"}, None, False, id="an absolute path below"),
        pytest.param("outside-workdir", {"path": "/srv/project"}, None, False, id="the directory itself"),
        pytest.param("outside-workdir", {"path": "/srv/projects"}, None, True, id="a name that begins alike"),
        pytest.param("outside-workdir", {"path": "a/../../x"}, None, True, id="dots that leave it"),
        pytest.param("outside-workdir", {"path": "a/../x"}, None, False, id="dots that do not leave it"),
        pytest.param("outside-workdir", {"path": "/srv/project/../x"}, None, True, id="dots after its name"),
        pytest.param("outside-workdir", {"path": "/srv/project/a b/../../../x"}, None, True, id="a space"),
        pytest.param("outside-workdir", {"path": "~/.ssh"}, None, True, id="a home directory"),
        pytest.param("outside-workdir", {"path": "file:///etc/passwd"}, None, True, id="a file's URL"),
        pytest.param("outside-workdir", {"url": "https://x.org/etc"}, None, False, id="another URL"),
        pytest.param("outside-workdir", {"edits": [{"file": "/etc"}]}, None, True, id="a path further in"),
        pytest.param("outside-workdir", {"/etc": 1}, None, True, id="the name of a field"),
        pytest.param("outside-workdir", {"command": "ls src; cat</etc/passwd"}, None, True, id="a command"),
        pytest.param("outside-workdir", {"command": "tar --file='/x'"}, None, True, id="an option"),
        pytest.param("outside-workdir", {"command": "make 2>/dev/null"}, None, False, id="no file at all"),
        pytest.param("outside-workdir", {"command": "ls /"}, None, True, id="the root"),
    ],
)
def test_a_rule_asks_for_what_it_is_about(
    rule: JsonValue, params: dict[str, JsonValue], destructive: bool | None, expected: bool
) -> None:
    assert asks(rule, params, destructive) is expected


@pytest.mark.parametrize(("path", "expected"), [("/srv/project/a", True), ("a", False), ("../a", True)])
def test_every_absolute_path_is_outside_of_a_directory_that_nobody_knows(path: str, expected: bool) -> None:
    why = why_to_ask("outside-workdir", {"path": path}, destructive=None, directory=None)
    assert (why is not None) is expected


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        pytest.param("sometimes", "must be never, always", id="a word that is none"),
        pytest.param(None, "must be never, always", id="nothing"),
        pytest.param({"when": {}, "if": 1}, "must be never, always", id="a field that nobody knows"),
        pytest.param({"when": {"pattern": "(?=a)"}}, "the schema is refused: pattern", id="looking around"),
        pytest.param({"when": {"$ref": "http://x/y"}}, "the schema is refused", id="a remote reference"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule: JsonValue, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        APPROVAL.validate_python(rule)


def test_rules_as_large_as_no_input_can_carry_are_refused() -> None:
    with pytest.raises(ValidationError, match="above the limit of 16KB"):
        APPROVALS.validate_python({"a": {"when": {"description": "x" * 20_000}}})


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        pytest.param("rm", "always", id="the last rules that name it"),
        pytest.param("mv", "first-use", id="any other of the last rules that say so"),
        pytest.param("cp", "first-use", id="a name in rules before them"),
    ],
)
def test_the_last_rules_that_speak_of_a_tool_hold(tool: str, expected: Approval) -> None:
    agent: dict[str, Approval] = {"rm": "never", "cp": "destructive"}
    assert ruling(tool, "never", agent, {"rm": "always", "*": "first-use"}) == expected


def test_without_rules_the_tool_says_it_itself() -> None:
    assert ruling("rm", "destructive", {"mv": "always"}, {}) == "destructive"


def test_rules_for_tools_that_are_not_there_are_named() -> None:
    assert unknown_tools({"*": "always", "sl": "always", "ls": "never"}, ["ls"]) == ["sl"]
