import json
from pathlib import Path

import pytest

from tests.console.command import MODEL, Surefoot
from tests.console.tools_on_disk import write_tool

OBJECT = {"type": "object"}
FAILS = ("run", "Go on.", *MODEL, "--tools", "tools")


@pytest.fixture
def tools(usable: Surefoot) -> Path:
    directory = usable.directory / "tools"
    directory.mkdir()
    return directory


def manifest(name: str, **fields: object) -> str:
    return json.dumps({"name": name, "description": "Does it.", "inputSchema": OBJECT, **fields})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("{", "is not JSON: ", id="half an object"),
        pytest.param("[]", "must be a JSON object, and is of type array", id="no object"),
        pytest.param(
            '{"name": "t", "inputSchema": {}}', "description: is required, and missing", id="a field"
        ),
        pytest.param(manifest("t", timeoutSeconds=0), "timeoutSeconds: ", id="no time at all"),
        pytest.param(
            manifest("t", colour="blue"), "colour: is no field of a manifest", id="an unknown field"
        ),
        pytest.param(manifest("llm_turn"), "name: the name 'llm_turn' is reserved", id="a reserved name"),
        pytest.param(
            manifest("other"), "name: is 'other', and the file's name says 't'", id="another's name"
        ),
        pytest.param(
            manifest("t", inputSchema={**OBJECT, "properties": {"a": {"pattern": "(?=b)"}}}),
            "inputSchema: the schema is refused: ",
            id="a pattern that looks around",
        ),
        pytest.param(
            manifest(
                "t", inputSchema={**OBJECT, "properties": {"a": {"$ref": "https://example.com/a.json"}}}
            ),
            "inputSchema: the schema is refused: ",
            id="a remote reference",
        ),
        pytest.param(
            manifest("t"), "its executable is missing: there is no file DIR/tools/t", id="no executable"
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_is_named_with_field_and_reason(
    usable: Surefoot, tools: Path, text: str, sentence: str
) -> None:
    (tools / "t.tool.json").write_text(text)

    told = usable.refuses(*FAILS)
    assert told.startswith(f"DIR/tools/t.tool.json: {sentence}")


def test_two_tools_of_one_name_are_named_both(usable: Surefoot, tools: Path) -> None:
    others = usable.directory / "others"
    others.mkdir()
    write_tool(tools, "twice")
    write_tool(others, "twice")

    told = usable.refuses(*FAILS, "--tools", "others")

    assert told == (
        "DIR/others/twice.tool.json: name: two tools have the name 'twice': "
        "the other one is DIR/tools/twice.tool.json"
    )


def test_every_problem_of_every_tool_is_told_at_once(usable: Surefoot, tools: Path) -> None:
    (tools / "a.tool.json").write_text("{")
    (tools / "b.tool.json").write_text(manifest("b", colour="blue"))

    ended = usable(*FAILS)

    assert (ended.exit_code, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 2)


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
