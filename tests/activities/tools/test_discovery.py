import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.tools.discovery import Discovery, discover_tools
from activities.tools.disk_tool import DiskTool
from activities.tools.sources import BUILTIN_DIRECTORY
from tests.activities.tools.disk_tools import SHELL, write_tool


def write_manifest(directory: Path, name: str, /, **fields: JsonValue) -> Path:
    manifest = directory / f"{name}.tool.json"
    manifest.write_text(json.dumps({"name": name, "description": "d", "inputSchema": {}, **fields}))
    return manifest


def problems(*directories: Path) -> list[str]:
    """Every problem with its file's name in place of its path, a warning marked as one."""
    found = discover_tools(directories)
    root = f"{directories[0].parent}{os.sep}"
    return [f"{'warning: ' * one.warning}{one}".replace(root, "") for one in found.problems]


def executable(found: Discovery, name: str) -> Path | None:
    tool = found.tools[name]
    return tool.executable if isinstance(tool, DiskTool) else None


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    directory = tmp_path / "tools"
    directory.mkdir()
    return directory


def test_an_executable_beside_its_manifest_is_a_tool(tools: Path) -> None:
    write_tool(tools, "echo", SHELL)
    write_tool(tools, "add", SHELL, usage="To add.")
    (tools / "README.md").write_text("not a tool")
    found = discover_tools([tools])
    assert [(tool.name, tool.usage) for tool in found.definitions] == [("add", "To add."), ("echo", None)]
    assert found.tools["echo"] == DiskTool(found.definitions[1], tools / "echo.tool.json", tools / "echo")
    assert found.problems == ()


def test_the_tools_that_come_along_have_no_problems() -> None:
    found = discover_tools([BUILTIN_DIRECTORY])
    assert (list(found.tools), found.problems) == (["bash"], ())


def test_nothing_is_found_in_no_directories() -> None:
    assert (discover_tools([]).definitions, discover_tools([]).problems) == ((), ())


def test_an_executor_of_another_queue_needs_no_executable_here(tools: Path) -> None:
    manifest = write_manifest(tools, "render", executorQueue="gpu")
    found = discover_tools([tools])
    assert found.tools["render"] == DiskTool(found.definitions[0], manifest, executable=None)
    assert found.problems == ()


def test_a_tool_of_a_relative_directory_can_be_started_from_everywhere(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tools, "echo", SHELL)
    monkeypatch.chdir(tools.parent)
    assert executable(discover_tools([Path("tools")]), "echo") == tools / "echo"


def missing(directory: Path) -> Path:
    return directory / "nowhere"


def a_file(directory: Path) -> Path:
    write_tool(directory, "echo", SHELL)
    return directory / "echo"


def a_loop_of_links(directory: Path) -> Path:
    (directory / "loop").symlink_to("loop")
    return directory / "loop"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        pytest.param(missing, "tools/nowhere: there is no such tools directory", id="no such directory"),
        pytest.param(a_file, "tools/echo: cannot be read as a tools directory: Not a directory", id="a file"),
        pytest.param(
            a_loop_of_links,
            "tools/loop: cannot be read as a tools directory: Too many levels of symbolic links",
            id="links that lead nowhere",
        ),
    ],
)
def test_what_is_no_directory_is_an_error(tools: Path, place: Callable[[Path], Path], problem: str) -> None:
    found = discover_tools([place(tools)])
    assert [str(one).replace(f"{tools.parent}{os.sep}", "") for one in found.errors] == [problem]


def test_an_empty_directory_is_a_warning(tools: Path) -> None:
    assert problems(tools) == [
        "warning: tools: no tool is here: no file ends with .tool.json, no Python file imports surefoot"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(b"", "is not JSON: empty", id="nothing"),
        pytest.param(b"{", "is not JSON: Expecting property name", id="half a JSON object"),
        pytest.param(b"name: x\n", "is not JSON: Expecting value at character 0", id="YAML"),
        pytest.param(b'{"a": 1} // note', "is not JSON: Extra data at character 9", id="a comment"),
        pytest.param(b"\xff\xfe", "is not JSON: not UTF-8 at byte 0", id="not UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", "is not JSON: starts with a byte order mark", id="a byte order mark"),
        pytest.param(
            b'{"name": "x", "name": "y"}',
            "is not JSON: the key 'name' stands twice in one object",
            id="a field twice",
        ),
        pytest.param(b"[]", "must be a JSON object, and is of type array", id="an array"),
        pytest.param(b'"x"', "must be a JSON object, and is of type string", id="text"),
        pytest.param(b" " * (1024 * 1024 + 1), "is larger than 1MB", id="more than a mebibyte"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_an_error(tools: Path, text: bytes, problem: str) -> None:
    (tools / "x.tool.json").write_bytes(text)
    (found,) = problems(tools)
    assert found.startswith(f"tools/x.tool.json: {problem}")


def test_a_manifest_that_is_no_file_is_an_error(tools: Path) -> None:
    (tools / "a.tool.json").mkdir()
    os.mkfifo(tools / "b.tool.json")
    (tools / "c.tool.json").symlink_to("nowhere")
    (tools / "d.tool.json").symlink_to("d.tool.json")
    assert problems(tools) == [
        "tools/a.tool.json: is not a file",
        "tools/b.tool.json: is not a file",
        "tools/c.tool.json: cannot be read: No such file or directory",
        "tools/d.tool.json: cannot be read: Too many levels of symbolic links",
    ]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        pytest.param({"timeout": 5}, "timeout: is no field of a manifest", id="an unknown field"),
        pytest.param({"limits": {"out": 5}}, "limits.out: is no field of a manifest", id="one deep down"),
        pytest.param(
            {"annotations": {"readonly": True}},
            "annotations.readonly: is no field of a manifest",
            id="an unknown hint",
        ),
        pytest.param(
            {"timeout_seconds": 5}, "timeout_seconds: is no field of a manifest", id="a field in snake case"
        ),
        pytest.param(
            {"description": None}, "description: Input should be a valid string", id="null for text"
        ),
        pytest.param({"timeoutSeconds": "5"}, "timeoutSeconds: Input should be a valid number", id="text"),
        pytest.param({"timeoutSeconds": True}, "timeoutSeconds: Input should be a valid number", id="true"),
        pytest.param(
            {"exclusive": "no"}, "exclusive: Input should be a valid boolean", id="text for a boolean"
        ),
        pytest.param(
            {"limits": {"stdout": 1}},
            "limits.stdout: Input should be greater than or equal to 128",
            id="a limit that is too small",
        ),
        pytest.param(
            {"inputSchema": {"type": "array"}},
            "inputSchema: the params of a tool are an object: 'type' must be 'object'",
            id="params that are no object",
        ),
        pytest.param(
            {"outputSchema": {"properties": {"a": {"type": "txt"}}}},
            "outputSchema: the schema is refused: properties.a.type: "
            "\"txt\" is not valid under any of the schemas listed in the 'anyOf' keyword",
            id="a schema that is refused",
        ),
        pytest.param(
            {"timeoutParam": "t"},
            "timeoutParam: 't' must name a property of inputSchema that is an integer or a number",
            id="a timeout parameter that is none",
        ),
        pytest.param(
            {"approval": "sometimes"},
            "approval: must be never, always, destructive, outside-workdir, first-use, or "
            '{"when": a JSON Schema of the params}',
            id="an approval that is none",
        ),
    ],
)
def test_a_manifest_that_does_not_validate_is_told_with_its_field(
    tools: Path, fields: dict[str, JsonValue], problem: str
) -> None:
    write_tool(tools, "x", SHELL)
    write_manifest(tools, "x", **fields)
    assert problems(tools) == [f"tools/x.tool.json: {problem}"]


def test_everything_that_is_wrong_with_a_manifest_is_told_at_once(tools: Path) -> None:
    (tools / "x.tool.json").write_text('{"name": "a b", "usage": 3, "colour": "blue"}')
    assert problems(tools) == [
        "tools/x.tool.json: name: String should match pattern '^[A-Za-z0-9_-]{1,64}$'",
        "tools/x.tool.json: description: is required, and missing",
        "tools/x.tool.json: usage: Input should be a valid string",
        "tools/x.tool.json: inputSchema: is required, and missing",
        "tools/x.tool.json: colour: is no field of a manifest",
    ]


def test_a_reserved_name_is_an_error(tools: Path) -> None:
    write_tool(tools, "llm_turn", SHELL)
    assert problems(tools) == ["tools/llm_turn.tool.json: name: the name 'llm_turn' is reserved"]


def test_a_tool_has_the_name_of_its_file(tools: Path) -> None:
    write_manifest(tools, "echo", name="shout")
    write_manifest(tools, "").write_text('{"name": "x", "description": "d", "inputSchema": {}}')
    assert problems(tools) == [
        "tools/.tool.json: name: is 'x', and the file's name says ''",
        "tools/echo.tool.json: name: is 'shout', and the file's name says 'echo'",
    ]


def test_two_tools_of_one_name_are_an_error_and_the_first_one_stands(tools: Path) -> None:
    others = tools.parent / "others"
    for directory in (tools, others):
        write_tool(directory, "echo", SHELL)
        write_tool(directory, f"in-{directory.name}", SHELL)
    found = discover_tools([tools, others])
    assert problems(tools, others) == [
        "others/echo.tool.json: name: two tools have the name 'echo': the other one is tools/echo.tool.json"
    ]
    assert {name: Path(tool.origin).parent for name, tool in found.tools.items()} == {
        "echo": tools,
        "in-tools": tools,
        "in-others": others,
    }


def test_a_directory_named_twice_holds_its_tools_once(tools: Path) -> None:
    write_tool(tools, "echo", SHELL)
    link = tools.parent / "link"
    link.symlink_to(tools)
    found = discover_tools([tools, tools, tools.parent / "x" / ".." / "tools", link])
    assert (list(found.tools), found.problems) == (["echo"], ())


def test_a_missing_executable_is_an_error(tools: Path) -> None:
    write_manifest(tools, "echo")
    write_manifest(tools, "link")
    (tools / "link").symlink_to("nowhere")
    assert problems(tools) == [
        f"tools/{name}.tool.json: its executable is missing: there is no file tools/{name}"
        for name in ("echo", "link")
    ]


@pytest.mark.parametrize(
    ("script", "mode", "reason"),
    [
        pytest.param(SHELL, 0o644, "tools/x is not executable (chmod +x)", id="not executable"),
        pytest.param(
            "#!/no/such/sh\n",
            0o755,
            "its interpreter '/no/such/sh' was not found or is not executable",
            id="no interpreter",
        ),
        pytest.param(
            "#!/bin/sh\r\necho",
            0o755,
            "its interpreter '/bin/sh\\r' was not found or is not executable",
            id="Windows line ends",
        ),
        pytest.param(
            "#!/bin/\0sh\n",
            0o755,
            "its interpreter '/bin/\\x00sh' was not found or is not executable",
            id="a NUL in the interpreter",
        ),
        pytest.param("#!\n", 0o755, "its interpreter '' was not found or is not executable", id="no name"),
    ],
)
def test_an_executable_that_could_not_be_started_is_a_warning(
    tools: Path, script: str, mode: int, reason: str
) -> None:
    write_tool(tools, "x", script, mode=mode)
    assert problems(tools) == [f"warning: tools/x: cannot be started: {reason}"]
    assert executable(discover_tools([tools]), "x") == tools / "x"


def test_what_is_no_file_in_the_place_of_an_executable_is_a_warning(tools: Path) -> None:
    write_manifest(tools, "directory")
    (tools / "directory").mkdir()
    write_manifest(tools, "pipe")
    os.mkfifo(tools / "pipe", 0o755)
    assert problems(tools) == [
        "warning: tools/directory: cannot be started: tools/directory is a directory",
        "warning: tools/pipe: cannot be started: tools/pipe is not a file",
    ]
    assert list(discover_tools([tools]).tools) == ["directory", "pipe"]


def test_all_definitions_together_stay_below_a_mebibyte(tools: Path) -> None:
    for name in ("a", "b"):
        write_tool(tools, name, SHELL, usage="x" * (512 * 1024))
    (problem,) = problems(tools)
    assert problem.startswith("tools: all definitions together are 1,0")
    assert problem.endswith(" bytes, above the limit of 1MB")


def test_one_broken_tool_hides_no_other(tools: Path) -> None:
    write_tool(tools, "good", SHELL)
    (tools / "bad.tool.json").write_text("{")
    found = discover_tools([tools / "nowhere", tools])
    assert (list(found.tools), len(found.errors)) == (["good"], 2)
