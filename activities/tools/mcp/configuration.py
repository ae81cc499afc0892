"""MCP servers as clients of the protocol configure them: `{"mcpServers": {"name": {…}}}`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from activities.tools.mcp.expansion import UnsetVariableError, expand
from activities.tools.mcp.server import SEPARATOR, Endpoint, McpServer, Program
from activities.tools.problem import Problem
from activities.tools.secrets.secrets import SecretMissingError, Secrets
from activities.tools.secrets.source import SecretSource
from surefoot.definition import MAX_TIMEOUT_SECONDS
from surefoot.sizes import count
from surefoot.strict_json import NotStrictJsonError, json_type, strict_json

SERVERS = "mcpServers"

_MAX_FILE_BYTES = 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
_STDIO, _HTTP = ("stdio",), ("http", "streamable-http")

_Seconds = Annotated[float, Field(gt=0, le=MAX_TIMEOUT_SECONDS)]


class _Entry(BaseModel):
    """One server as it is written."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=False, strict=True, extra="allow", frozen=True
    )

    type: str | None = None
    command: Annotated[str, Field(min_length=1)] | None = None
    args: tuple[str, ...] = Field(default=(), strict=False)
    env: dict[str, str] = {}
    cwd: str | None = None
    url: Annotated[str, Field(pattern=r"^(\$\{|https?://)")] | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    timeout_seconds: _Seconds = 30
    startup_timeout_seconds: _Seconds = 30
    exclusive: bool = False


def servers_of_file(file: Path, variables: Mapping[str, str]) -> Iterator[McpServer | Problem]:
    """Read the servers of a JSON file, or everything that is wrong with them."""
    place = file.absolute()
    try:
        if place.stat().st_size > _MAX_FILE_BYTES:
            yield Problem(place, f"is larger than {count(_MAX_FILE_BYTES)}")
            return
        value = strict_json(place.read_bytes())
    except OSError as error:
        yield Problem(place, f"cannot be read: {error.strerror}")
    except NotStrictJsonError as error:
        yield Problem(place, f"is not JSON: {error}")
    else:
        if isinstance(value, dict) and SERVERS in value:
            yield from configured_servers(value[SERVERS], place=str(place), variables=variables)
        else:
            yield Problem(place, f'must be a JSON object with the servers in it, {{"{SERVERS}": {{…}}}}')


def configured_servers(
    value: JsonValue, *, place: str, variables: Mapping[str, str]
) -> Iterator[McpServer | Problem]:
    """Read what stands under `mcpServers` in the file `place`, or everything that is wrong with it.

    `variables` are what `${…}` names. Servers that are disabled are left out.
    """
    if not isinstance(value, dict):
        yield Problem(place, f"must be an object, and is of type {json_type(value)}", SERVERS)
        return
    if not value:
        yield Problem(place, "names no server", SERVERS, warning=True)
    for name, written in value.items():
        field = f"{SERVERS}.{name}"
        if not _NAME.fullmatch(name) or SEPARATOR in name:
            reason = (
                f"begins the names of its tools, '{name}{SEPARATOR}…': a server's name is of letters, "
                f"digits, '-' and '_', at most 60, and without '{SEPARATOR}'"
            )
            yield Problem(place, reason, field)
        else:
            yield from _server(name, written, place=place, field=field, variables=variables)


def _server(
    name: str, written: JsonValue, *, place: str, field: str, variables: Mapping[str, str]
) -> Iterator[McpServer | Problem]:
    try:
        entry = _Entry.model_validate(written)
    except ValidationError as error:
        yield from (_problem(place, field, one) for one in error.errors())
        return
    if entry.disabled:
        return
    for unknown in entry.model_extra or ():
        yield Problem(place, "is no field of a server that is known here", f"{field}.{unknown}", warning=True)
    reason = _unreachable(entry)
    if reason is not None:
        yield Problem(place, reason[1], f"{field}.{reason[0]}" if reason[0] else field)
        return
    expanded = _Expansion(place, field, variables, Secrets(SecretSource.of(variables).read()))
    reached = expanded.endpoint(entry) if entry.command is None else expanded.program(entry)
    if expanded.problems:
        yield from expanded.problems
        return
    yield McpServer(
        name,
        place,
        reached,
        timeout_seconds=entry.timeout_seconds,
        startup_seconds=entry.startup_timeout_seconds,
        exclusive=entry.exclusive,
    )


def _unreachable(entry: _Entry) -> tuple[str, str] | None:
    """The field, and why there is no way to the server that is described."""
    if entry.type == "sse":
        return "type", "is 'sse', the transport that streamable HTTP has replaced; it is not spoken here"
    if entry.type not in (None, *_STDIO, *_HTTP):
        return "type", f"is '{entry.type}', and must be one of {', '.join((*_STDIO, *_HTTP))}"
    if (entry.command is None) == (entry.url is None):
        return "", "needs either a command or a url" + (", and has both" if entry.command else "")
    if entry.type in _STDIO and entry.command is None:
        return "command", "is required for the type 'stdio', and missing"
    if entry.type in _HTTP and entry.url is None:
        return "url", f"is required for the type '{entry.type}', and missing"
    return None


class _Expansion:
    """Puts values in place of variables, and remembers which are missing."""

    def __init__(self, place: str, field: str, variables: Mapping[str, str], secrets: Secrets) -> None:
        self.problems: list[Problem] = []
        self._place = place
        self._field = field
        self._variables = variables
        self._secrets = secrets

    def program(self, entry: _Entry) -> Program:
        directory = None if entry.cwd is None else self._of("cwd", entry.cwd)
        return Program(
            self._of("command", entry.command or ""),
            tuple(self._of(f"args[{number}]", argument) for number, argument in enumerate(entry.args)),
            self._confided("env", entry.env),
            # Another worker may go on with the run, from another directory.
            None if directory is None else str(Path(self._place).parent / directory),
        )

    def endpoint(self, entry: _Entry) -> Endpoint:
        return Endpoint(self._of("url", entry.url or ""), self._confided("headers", entry.headers))

    def _confided(self, field: str, written: Mapping[str, str]) -> dict[str, str]:
        """Expand what no other process sees, and what may therefore refer to secrets."""
        confided: dict[str, str] = {}
        for name, value in written.items():
            where = f"{field}.{name}"
            try:
                confided |= self._secrets.environment({name: self._of(where, value)})
            except SecretMissingError as error:
                self.problems.append(Problem(self._place, str(error), f"{self._field}.{where}"))
        return confided

    def _of(self, field: str, text: str) -> str:
        try:
            return expand(text, self._variables)
        except UnsetVariableError as error:
            self.problems.append(Problem(self._place, str(error), f"{self._field}.{field}"))
            return text


def _problem(place: str, field: str, error: ErrorDetails) -> Problem:
    match error["type"]:
        case "string_pattern_mismatch":
            reason = "must begin with http:// or https://"
        case "model_type" | "model_attributes_type":
            reason = "must be an object"
        case _:
            reason = error["msg"].replace("Input should", "should")
    return Problem(place, reason, ".".join([field, *map(str, error["loc"])]))
