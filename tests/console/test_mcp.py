import asyncio
import json
import re
from collections.abc import Callable, Generator
from pathlib import Path

import httpx2
import pytest
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.activities.tools.tool_run import is_alive, until
from tests.console.command import ROOT, SUREFOOT, Surefoot
from tests.console.raw_mcp_client import HELLO, RawClient
from tests.workers.real_workers import pid_in

pytestmark = pytest.mark.slow

Client = Callable[..., RawClient]

DOCUMENTATION = ROOT / "docs" / "mcp.md"

NOISY = """
import os
from surefoot import tool

@tool
def noisy(name: str) -> str:
    \"\"\"Greet, and print where no tool should.\"\"\"
    print("printed")
    os.write(1, b"written\\n")
    return f"Hello {name}"
"""


@pytest.fixture
def client(surefoot_alone: Surefoot) -> Generator[Client]:
    started: list[RawClient] = []

    def start(*arguments: object) -> RawClient:
        directory, environment = surefoot_alone.directory, surefoot_alone.environment
        started.append(RawClient(*arguments, directory=directory, environment=environment))
        return started[-1]

    yield start
    for one in started:
        one.clean_up()


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_a_client_finds_the_tools_and_calls_them(surefoot_alone: Surefoot) -> None:
    directory = surefoot_alone.directory
    tools = directory / "tools"
    write_tool(tools, "crash", f"{SHELL}echo half; exit 3\n", annotations={"title": "Crash it"})
    write_tool(tools, "list", f"{SHELL}echo '[1]'\n", outputSchema={"type": "array"})
    write_tool(tools, "large", f"{SHELL}head -c 300000 /dev/zero | tr '\\0' x | sed 's/.*/\"&\"/'\n")
    write_tool(tools, "elsewhere", SHELL, executorQueue="gpu")
    (tools / "elsewhere").unlink()
    (tools / "noisy.py").write_text(NOISY)
    (directory / "here").mkdir()
    sources = ("--tools", "tools", "--tools", "builtin", "--tools", "builtin:files")
    parameters = StdioServerParameters(
        command=str(SUREFOOT),
        args=["mcp", *sources, "--workdir", "here"],
        env=surefoot_alone.environment,
        cwd=directory,
    )
    with (directory / "stderr").open("w+") as errors:
        async with (
            asyncio.timeout(60),
            stdio_client(parameters, errlog=errors) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            offered = {tool.name: tool for tool in (await session.list_tools()).tools}
            written = await session.call_tool("write_file", {"path": "a", "content": "b\n"})
            refused = await session.call_tool("read_file", {"path": "../stderr"})
            listed = await session.call_tool("list", {})
            noisy = await session.call_tool("noisy", {"name": "Ada"})
            large = await session.call_tool("large", {})
            cut = await session.call_tool("bash", {"command": "seq 9999"})
            artifact = cut.structured_content["stdout_artifact"]
            kept = await session.call_tool("read_file", {"path": artifact, "offset": 9999})
            failures = [
                json.loads(text_of(result))
                for name, params in (("crash", {}), ("bsh", {}), ("bash", {"comand": "ls"}))
                if (result := await session.call_tool(name, params)).is_error
            ]
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await session.call_tool("bash", {"command": "echo $$ > cancelled; exec sleep 60"})
            cancelled = await pid_in(directory / "here" / "cancelled")
            await until(lambda: not is_alive(cancelled))
            left_behind = asyncio.create_task(
                session.call_tool("bash", {"command": "echo $$ > left; exec sleep 60"})
            )
            left = await pid_in(directory / "here" / "left")
            left_behind.cancel()

        await until(lambda: not is_alive(left))
        errors.seek(0)
        said = errors.read()

    assert sorted(offered) == [
        *("bash", "crash", "edit_file", "large", "list"),
        *("list_dir", "noisy", "read_file", "search", "write_file"),
    ]
    assert (offered["crash"].title, offered["list"].output_schema) == ("Crash it", None)
    assert offered["read_file"].output_schema is not None
    hints = offered["edit_file"].annotations
    assert hints is not None
    assert (hints.read_only_hint, hints.destructive_hint) == (False, True)
    assert "**Returns:**" in (offered["bash"].description or "")
    assert written.structured_content == json.loads(text_of(written))
    assert (directory / "here" / "a").read_text() == "b\n"
    assert refused.is_error is False
    assert refused.structured_content["error_code"] == "invalid_input"
    assert (text_of(listed), listed.structured_content) == ("[1]", None)
    assert noisy.structured_content == {"success": True, "error": None, "result": "Hello Ada"}
    assert len(text_of(large)) == 300_002
    assert kept.structured_content["content"] == "  9999\t9999"
    assert [(one["error_code"], one["exit_code"], one["stdout"]) for one in failures] == [
        ("TOOL_CRASHED", 3, "half\n"),
        ("TOOL_NOT_FOUND", None, ""),
        ("INVALID_PARAMS", None, ""),
    ]
    assert "elsewhere is not offered" in said
    assert ("printed" in said, "written" in said) == (True, True)


async def test_a_hostile_client_is_answered_and_leaves_nothing_behind(client: Client, tmp_path: Path) -> None:
    hostile = client()
    hostile.say(
        *(b"garbage", b"\xff\xfe", b"[]", b'{"jsonrpc": "1.0", "id": 5}', b"[" * 5_000),
        b'{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": {"a": 1, "a": 2}}',
        b"x" * (8 * 1024 * 1024 + 1),
        *HELLO,
    )
    answers = [hostile.hear() for _ in range(8)]
    hostile.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}})
    refused = hostile.hear()
    hostile.call(2, "bash", command="echo $$ > pid; setsid sleep 60 & trap '' TERM; sleep 60; :")
    running = await pid_in(tmp_path / "pid")

    exit_code, said, complained = hostile.leave()

    assert [(one["id"], one["error"]["code"]) for one in answers[:-1]] == [
        *((None, -32700), (None, -32700), (None, -32600), (5, -32600), (None, -32700)),
        *(("x", -32700), (None, -32600)),
    ]
    assert (answers[-1]["id"], answers[-1]["result"]["serverInfo"]["name"]) == (0, "surefoot")
    assert (refused["id"], refused["error"]["code"]) == (1, -32602)
    assert (exit_code, complained) == (0, b"")
    assert [json.loads(line)["error"]["message"] for line in said.splitlines()] == ["Connection closed"]
    assert not is_alive(running)


def test_the_documented_configuration_starts_a_server(client: Client, tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), flags=re.DOTALL)
    server = json.loads(example.replace("/home/ada", str(tmp_path)))["mcpServers"]["surefoot"]
    (tmp_path / "project").mkdir()
    write_tool(tmp_path / "tools", "where", f'{SHELL}echo "\\"$PWD\\""\n')

    started = client(*server["args"][1:])
    started.say(*HELLO)
    started.hear()
    started.call(1, "where")

    assert (server["command"], server["args"][0]) == ("surefoot", "mcp")
    assert started.hear()["result"]["content"] == [{"type": "text", "text": f'"{tmp_path / "project"}"'}]


async def test_an_interrupt_ends_the_calls_and_then_the_command(client: Client, tmp_path: Path) -> None:
    interrupted = client("--tools", "builtin")
    interrupted.say(*HELLO)
    interrupted.call(1, "bash", command="echo $$ > pid; exec sleep 60")
    running = await pid_in(tmp_path / "pid")

    interrupted.interrupt()

    assert (interrupted.ends(), is_alive(running)) == (130, False)


async def test_clients_over_http_find_the_same(client: Client, tmp_path: Path) -> None:
    serving = client("--http", "--port", 0)
    url = serving.url()
    async with (
        asyncio.timeout(30),
        streamable_http_client(url) as streams,
        ClientSession(*streams) as session,
        httpx2.AsyncClient() as browser,
    ):
        await session.initialize()
        offered = [tool.name for tool in (await session.list_tools()).tools]
        refused = await session.call_tool("bsh", {})
        elsewhere = await browser.post(url, headers={"Origin": "http://elsewhere.example"}, json=HELLO[0])
        lasting = asyncio.create_task(session.call_tool("bash", {"command": "echo $$ > pid; sleep 60"}))
        running = await pid_in(tmp_path / "pid")
        serving.interrupt()
        with pytest.raises(MCPError):
            await lasting

    assert (offered, refused.is_error, elsewhere.status_code) == (["bash"], True, 403)
    assert (serving.ends(), is_alive(running)) == (130, False)


def test_what_cannot_be_offered_is_one_sentence(usable: Surefoot) -> None:
    assert usable.refuses("mcp", "--tools", "gone") == "there is no such tools directory: DIR/gone"
    assert usable.refuses("mcp", "--port", 8234) == "--port is for --http"
    assert usable.refuses("mcp", "--workdir", "gone") == "the working directory DIR/gone does not exist"
