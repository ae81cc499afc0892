import logging
from pathlib import Path

import pytest

from activities.tools.sources import BUILTIN_DIRECTORY, source_directory
from console.errors import CommandError
from console.tool_sources import load_tools, tool_sources
from tests.console.tools_on_disk import write_tool


def test_without_a_place_the_built_in_tools_are_meant() -> None:
    assert tool_sources([]) == ("builtin",)


def test_places_are_absolute_and_each_is_there_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "tools")
    monkeypatch.chdir(tmp_path)

    builtin = ("builtin", "builtin:files", str(BUILTIN_DIRECTORY))
    sources = tool_sources(["tools", *builtin, "./tools/../tools", "link"])

    assert sources == (str(tmp_path / "tools"), "builtin", "builtin:files")


def test_a_directory_named_like_the_word_is_meant_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "builtin").mkdir()
    monkeypatch.chdir(tmp_path)

    assert [source_directory(source) for source in tool_sources(["builtin", "./builtin"])] == [
        BUILTIN_DIRECTORY,
        tmp_path / "builtin",
    ]


def test_a_function_is_remembered_with_the_directory_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    sources = tool_sources(["weather:forecast", f"{tmp_path}:weather:forecast", "/else:weather:forecast"])

    assert sources == (f"{tmp_path}:weather:forecast", "/else:weather:forecast")


def test_an_agent_is_remembered_by_the_path_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert tool_sources(["a.md", "./agents/../a.md", str(tmp_path / "a.md")]) == (f"{tmp_path}/a.md",)


def test_every_place_that_is_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    module = tmp_path / "functions.py"
    module.touch()

    with pytest.raises(CommandError) as caught:
        tool_sources(["", "builtin:file", str(tmp_path / "nowhere"), str(file), str(module), str(tmp_path)])

    assert caught.value.message.splitlines() == [
        (
            "--tools is empty: name a directory, module:attribute, FILE.json, FILE.md, "
            "`builtin` or `builtin:files`"
        ),
        "no tools that come with Surefoot are called `builtin:file`: there are `builtin` and `builtin:files`",
        f"there is no such tools directory: {tmp_path / 'nowhere'}",
        f"{file} is not a directory",
        f"{module} is a file: name the directory it is in, or its functions as module:attribute",
    ]


def test_every_error_of_every_tool_is_named(tmp_path: Path) -> None:
    (tmp_path / "half.tool.json").write_text('{"name"')
    write_tool(tmp_path, "llm_turn")
    write_tool(tmp_path, "late", description="", colour="red")

    with pytest.raises(CommandError) as caught:
        load_tools([str(tmp_path)])

    assert caught.value.message.splitlines() == [
        f"{tmp_path}/half.tool.json: is not JSON: Expecting ':' delimiter at character 7",
        f"{tmp_path}/late.tool.json: description: String should have at least 1 character",
        f"{tmp_path}/late.tool.json: colour: is no field of a manifest",
        f"{tmp_path}/llm_turn.tool.json: name: the name 'llm_turn' is reserved",
    ]


def test_a_warning_is_logged_and_the_tools_are_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tool(tmp_path, "unmarked").chmod(0o644)

    with caplog.at_level(logging.WARNING, "surefoot.tools"):
        found = load_tools([str(tmp_path)])

    assert (list(found.tools), caplog.messages) == (
        ["unmarked"],
        [f"{tmp_path}/unmarked: cannot be started: {tmp_path}/unmarked is not executable (chmod +x)"],
    )
