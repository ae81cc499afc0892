import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.tools.mcp.configuration import configured_servers, servers_of_file
from activities.tools.mcp.server import Endpoint, McpServer, Program
from activities.tools.problem import Problem

VARIABLES = {"TOKEN": "secret", "EMPTY": ""}


def _read(servers: JsonValue) -> list[McpServer | Problem]:
    return list(configured_servers(servers, place="/etc/mcp.json", variables=VARIABLES))


def test_a_server_is_read_as_other_clients_read_it() -> None:
    assert _read(
        {
            "files": {
                "command": "npx",
                "args": ["-y", "files@1", "${ROOT:-/srv}"],
                "env": {"KEY": "Bearer ${TOKEN}", "NAME": "${EMPTY:-unset}", "SAME": "$TOKEN ${}"},
                "cwd": "data",
            },
            "web": {
                "type": "streamable-http",
                "url": "https://example.org/mcp?key=${TOKEN}",
                "headers": {"Authorization": "Bearer ${TOKEN}"},
                "timeoutSeconds": 5,
                "startupTimeoutSeconds": 2,
                "exclusive": True,
            },
            "off": {"command": "no-matter", "disabled": True},
        }
    ) == [
        McpServer(
            "files",
            "/etc/mcp.json",
            Program(
                "npx",
                ("-y", "files@1", "/srv"),
                {"KEY": "Bearer secret", "NAME": "unset", "SAME": "$TOKEN ${}"},
                "/etc/data",
            ),
            timeout_seconds=30,
            startup_seconds=30,
        ),
        McpServer(
            "web",
            "/etc/mcp.json",
            Endpoint("https://example.org/mcp?key=secret", {"Authorization": "Bearer secret"}),
            timeout_seconds=5,
            startup_seconds=2,
            exclusive=True,
        ),
    ]


@pytest.mark.parametrize(
    ("servers", "problems"),
    [
        pytest.param([], ["mcpServers: must be an object, and is of type array"], id="no object"),
        pytest.param({}, ["mcpServers: names no server"], id="no server"),
        pytest.param({"a": "npx"}, ["mcpServers.a: must be an object"], id="a server that is text"),
        pytest.param(
            {"a": {}}, ["mcpServers.a: needs either a command or a url"], id="neither command nor url"
        ),
        pytest.param(
            {"a": {"command": "x", "url": "http://x/"}},
            ["mcpServers.a: needs either a command or a url, and has both"],
            id="command and url",
        ),
        pytest.param(
            {"a": {"type": "sse", "url": "http://x/"}},
            [
                (
                    "mcpServers.a.type: is 'sse', the transport that streamable HTTP has "
                    "replaced; it is not spoken"
                    " here"
                )
            ],
            id="the old transport",
        ),
        pytest.param(
            {"a": {"type": "ws", "url": "http://x/"}},
            ["mcpServers.a.type: is 'ws', and must be one of stdio, http, streamable-http"],
            id="an unknown transport",
        ),
        pytest.param(
            {"a": {"type": "http", "command": "x"}},
            ["mcpServers.a.url: is required for the type 'http', and missing"],
            id="a type without what it needs",
        ),
        pytest.param(
            {"a": {"url": "file:///etc/passwd"}},
            ["mcpServers.a.url: must begin with http:// or https://"],
            id="no web address",
        ),
        pytest.param(
            {
                "a": {"command": "x", "args": ["${ONE}", "${TWO:-}"], "env": {"KEY": "${THREE}"}},
                "b": {"url": "http://x/", "headers": {"Key": "${FOUR}"}},
            },
            [
                "mcpServers.a.args[0]: the environment variable ONE is not set, and there is no default",
                "mcpServers.a.env.KEY: the environment variable THREE is not set, and there is no default",
                "mcpServers.b.headers.Key: the environment variable FOUR is not set, and there is no default",
            ],
            id="variables that are not set, all of them",
        ),
        pytest.param(
            {"a": {"command": 3, "args": "x", "env": {"A": 1}, "timeoutSeconds": 0}},
            [
                "mcpServers.a.command: should be a valid string",
                "mcpServers.a.args: should be a valid tuple",
                "mcpServers.a.env.A: should be a valid string",
                "mcpServers.a.timeoutSeconds: should be greater than 0",
            ],
            id="wrong types, all of them",
        ),
        pytest.param(
            {"my server": {"command": "x"}},
            [
                (
                    "mcpServers.my server: begins the names of its tools, 'my server__…': a "
                    "server's name is of "
                    "letters, digits, '-' and '_', at most 60, and without '__'"
                )
            ],
            id="a name that no tool may begin with",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(servers: JsonValue, problems: list[str]) -> None:
    assert [str(one) for one in _read(servers)] == [f"/etc/mcp.json: {problem}" for problem in problems]


def test_a_field_of_another_client_is_a_warning() -> None:
    server, *_ = _read({"a": {"command": "x"}})
    assert _read({"a": {"command": "x", "autoApprove": []}}) == [
        Problem(
            "/etc/mcp.json",
            "is no field of a server that is known here",
            "mcpServers.a.autoApprove",
            warning=True,
        ),
        server,
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("{", "is not JSON: Expecting property name enclosed", id="no JSON"),
        pytest.param("[]", 'must be a JSON object with the servers in it, {"mcpServers": {…}}', id="a list"),
        pytest.param('{"servers": {}}', "must be a JSON object with the servers in it", id="another key"),
        pytest.param(json.dumps({"mcpServers": {"a": "x" * 1_100_000}}), "is larger than 1MB", id="large"),
        pytest.param(None, "cannot be read: No such file or directory", id="no file"),
    ],
)
def test_a_file_that_names_no_servers_is_told(tmp_path: Path, content: str | None, problem: str) -> None:
    file = tmp_path / "mcp.json"
    if content is not None:
        file.write_text(content)
    (told,) = servers_of_file(file, VARIABLES)
    assert str(told).startswith(f"{file}: {problem}")


def test_what_no_other_process_sees_may_refer_to_secrets(tmp_path: Path) -> None:
    (tmp_path / "GH_TOKEN").write_text("from-a-file\n")
    servers: JsonValue = {
        "a": {"command": "npx", "args": ["secret://GH_TOKEN"], "env": {"T": "Bearer secret://GH_TOKEN"}},
        "b": {"url": "https://example.org", "headers": {"X": "secret://KEY"}},
        "c": {"url": "https://example.org", "headers": {"X": "secret://GONE"}},
    }
    variables = {"SUREFOOT_SECRETS": str(tmp_path), "SUREFOOT_SECRET_KEY": "from-a-variable"}
    first, second, problem = configured_servers(servers, place="/etc/mcp.json", variables=variables)
    assert isinstance(first, McpServer)
    assert isinstance(second, McpServer)
    assert (first.reached, second.reached, str(problem)) == (
        Program("npx", ("secret://GH_TOKEN",), {"T": "Bearer from-a-file"}, None),
        Endpoint("https://example.org", {"X": "from-a-variable"}),
        "/etc/mcp.json: mcpServers.c.headers.X: the secret 'GONE' is not there on this worker",
    )
