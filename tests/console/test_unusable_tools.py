import json
from pathlib import Path

import pytest

from tests.console.command import MODEL, Surefoot
from tests.console.tools_on_disk import write_tool

OBJECT = {"type": "object"}
RUN = ("run", "Go on.", *MODEL, "--tools", "tools")

REFUSED = "inputSchema: the schema is refused:"
REMOTE = (
    "Resource 'https://example.com/a.json' is not present in a registry and retrieving it failed: "
    "ValueError: https://example.com/a.json is remote, and only local references are followed"
)


@pytest.fixture
def tools(usable: Surefoot) -> Path:
    directory = usable.directory / "tools"
    directory.mkdir()
    return directory


def manifest(name: str, **fields: object) -> str:
    return json.dumps({"name": name, "description": "Does it.", "inputSchema": OBJECT, **fields})


def test_every_manifest_that_cannot_be_used_is_named_at_once_with_field_and_reason(
    usable: Surefoot, tools: Path
) -> None:
    look_around = {**OBJECT, "properties": {"a": {"pattern": "(?=b)"}}}
    remote = {**OBJECT, "properties": {"a": {"$ref": "https://example.com/a.json"}}}
    manifests = {
        "broken": "{",
        "colourful": manifest("colourful", colour="blue"),
        "hasty": manifest("hasty", timeoutSeconds=0),
        "list": "[]",
        "llm_turn": manifest("llm_turn"),
        "looking": manifest("looking", inputSchema=look_around),
        "missing": manifest("missing"),
        "other": manifest("another"),
        "remote": manifest("remote", inputSchema=remote),
        "silent": '{"name": "silent", "inputSchema": {}}',
    }
    for name, text in manifests.items():
        (tools / f"{name}.tool.json").write_text(text)

    ended = usable(*RUN)
    told = [line.removeprefix(f"surefoot: {tools}/") for line in ended.stderr.splitlines()]

    assert (ended.exit_code, ended.stdout, usable.server()) == (2, "", None)
    assert told == [
        "broken.tool.json: is not JSON: Expecting property name enclosed in double quotes at character 1",
        "colourful.tool.json: colour: is no field of a manifest",
        "hasty.tool.json: timeoutSeconds: Input should be greater than or equal to 0.001",
        "list.tool.json: must be a JSON object, and is of type array",
        "llm_turn.tool.json: name: the name 'llm_turn' is reserved",
        f'looking.tool.json: {REFUSED} properties.a.pattern: "(?=b)" is not a "regex"',
        f"missing.tool.json: its executable is missing: there is no file {tools}/missing",
        "other.tool.json: name: is 'another', and the file's name says 'other'",
        f"remote.tool.json: {REFUSED} {REMOTE}",
        "silent.tool.json: description: is required, and missing",
    ]


def test_one_manifest_that_is_not_json_is_one_sentence(usable: Surefoot, tools: Path) -> None:
    (tools / "t.tool.json").write_text("")

    assert usable.refuses(*RUN) == "DIR/tools/t.tool.json: is not JSON: empty"


def test_two_tools_of_one_name_are_named_both(usable: Surefoot, tools: Path) -> None:
    others = usable.directory / "others"
    others.mkdir()
    write_tool(tools, "twice")
    write_tool(others, "twice")

    told = usable.refuses(*RUN, "--tools", "others")

    assert told == (
        "DIR/others/twice.tool.json: name: two tools have the name 'twice': "
        "the other one is DIR/tools/twice.tool.json"
    )


@pytest.mark.parametrize(
    ("mode", "shebang", "exit_code"),
    [
        pytest.param(0o644, "#!/bin/sh", 126, id="no x bit"),
        pytest.param(0o755, "#!/nowhere/interpreter", 127, id="a missing interpreter"),
    ],
)
def test_an_executable_that_cannot_be_started_is_a_warning_and_crashes_when_called(
    surefoot: Surefoot, mode: int, shebang: str, exit_code: int
) -> None:
    executable = write_tool(surefoot.directory, "broken")
    executable.write_text(f"{shebang}\n")
    executable.chmod(mode)
    script = surefoot.directory / "script.yaml"
    script.write_text("steps: [{call: [{broken: {}}]}, {say: '{{last.error_code}} {{last.exit_code}}'}]")

    ended = surefoot("run", "Go on.", "--model", f"scripted:{script}", "--tools", ".")

    assert (ended.exit_code, ended.stdout) == (0, f"TOOL_CRASHED {exit_code}\n")
    assert f"{executable}: cannot be started: " in ended.stderr
