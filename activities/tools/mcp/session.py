"""A session with an MCP server, opened, held and closed by a task of its own.

The SDK cancels the task that opened a session when the connection breaks. So no call is made in that task,
and nobody takes its cancellation for ours.
"""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

from mcp import types
from mcp.client.streamable_http import streamable_http_client

from activities.interface import ToolCallInput
from activities.tools.mcp.connection import Connection, Listed
from activities.tools.mcp.endings import Broken, CallEnding, CannotStartError
from activities.tools.mcp.failing import never_sent, reason_of, unreachable
from activities.tools.mcp.handshake import Beginning, beginning
from activities.tools.mcp.notifications import logged
from activities.tools.mcp.overheard import Overheard
from activities.tools.mcp.process import ServerProcess, started
from activities.tools.mcp.protocol_errors import SDK_CLOSED
from activities.tools.mcp.server import Endpoint, McpServer, Program
from activities.tools.mcp.wire import Wire

_QUIETED = {"mcp": logging.CRITICAL, "client": logging.CRITICAL, "httpx2": logging.WARNING}
"""Loggers that tell, with tracebacks, what our outcomes and problems tell in words."""

CLOSE_SECONDS = 2.0
"""How long a server may take to part from us over HTTP."""

PING_SECONDS = 2.0
"""How long a server that let a call time out may take to show that it lives, before it is started anew."""


class Session:
    """One session; it is opening as soon as it is made, in the running event loop."""

    def __init__(self, server: McpServer, *, environment: Mapping[str, str], directory: Path) -> None:
        for logger, level in _QUIETED.items():
            logging.getLogger(logger).setLevel(level)
        self.overheard = Overheard()
        self._server = server
        self._environment = environment
        self._directory = directory
        self._process: ServerProcess | None = None
        self._connection: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._broken_by: BaseException | None = None
        self._calls = 0
        self._heard_at_timeout: int | None = None
        self._task = asyncio.create_task(self._hold(), name=f"session with the MCP server {server.name}")

    @property
    def is_over(self) -> bool:
        """Whether no call can be made any more."""
        gone = self._process is not None and self._process.ended.done()
        return self._task.done() or self._closing.is_set() or gone

    @property
    def was_opened(self) -> bool:
        """Whether there ever was a session in which calls could be made."""
        return self._connection.done() and self._connection.exception() is None

    async def tools(self) -> tuple[list[Listed], list[tuple[str, str]]]:
        """List the server's tools as `Connection.tools` does, as soon as the session is open.

        Raises:
            CannotStartError: it never will be, or there is no such list.
        """
        connection = await self._opened()
        try:
            return await connection.tools()
        except CannotStartError as error:
            raise await self._because_of(error) from None

    def no_answer(self) -> CannotStartError:
        """Say that the server took longer than it may to begin with."""
        said = f": {self.overheard.beginning}" if self.overheard.beginning else ""
        return CannotStartError(f"its server did not answer within {self._server.startup_seconds:g}s{said}")

    async def call(self, tool: str, call: ToolCallInput) -> CallEnding:
        """Make a call as soon as the session is open; cancelling it ends nothing but the call."""
        self._calls += 1
        try:
            ending = await (await self._opened()).call(tool, call)
        except CannotStartError as error:
            return error.ending
        finally:
            self._calls -= 1
        return await self._explained(ending) if isinstance(ending, Broken) else ending

    def timed_out(self) -> None:
        """Remember that a call got no answer in time: the server may have stopped for good."""
        if self._process is not None:
            self._heard_at_timeout = self._process.exchange.heard

    async def is_stuck(self, *, patience_seconds: float) -> bool:
        """Whether nothing has come from it since a call timed out, no other call waits, and no ping helps."""
        process, connection = self._process, self._connection
        if process is None or self._calls or self._heard_at_timeout != process.exchange.heard:
            return False
        try:
            async with asyncio.timeout(min(PING_SECONDS, patience_seconds)):
                return not await connection.result().answers()
        except TimeoutError:
            return True

    async def close(self) -> None:
        """End it with all that it has started; takes a second or two at most."""
        was_open = self._connection.done()
        self._closing.set()
        if not was_open:
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def _opened(self) -> Connection:
        await asyncio.wait({self._connection})
        return self._connection.result()

    async def _because_of(self, error: CannotStartError) -> CannotStartError:
        """Say how the process ended, if that is why there is nothing to be had."""
        process = self._process
        return await process.why_not_started() if process is not None and process.is_over else error

    async def _hold(self) -> None:
        try:
            match self._server.reached:
                case Program() as program:
                    await self._hold_process(program)
                case Endpoint() as endpoint:
                    await self._hold_endpoint(endpoint)
        except CannotStartError as error:
            self._not_opened(error)
        except asyncio.CancelledError as error:
            # Ours comes after `close`; any other one is the SDK's, which is done with a broken connection.
            self._broken_by = error
            self._not_opened(CannotStartError("the connection to its server broke"))
        except Exception as error:  # noqa: BLE001  the SDK raises whatever its transport does, in groups
            self._broken_by = error
            self._not_opened(unreachable(error))
        finally:
            self._not_opened(CannotStartError("its session was closed"))

    async def _hold_process(self, program: Program) -> None:
        async with (
            started(
                program,
                environment=self._environment,
                directory=self._directory,
                overheard=self.overheard,
            ) as process,
            beginning(process.exchange.messages, process.exchange) as begun,
        ):
            self._process = process
            try:
                self._connection.set_result(await self._agreed(begun))
            except CannotStartError as error:
                raise await self._because_of(error) from None
            closing = asyncio.create_task(self._closing.wait())
            await asyncio.wait({closing, process.ended}, return_when=asyncio.FIRST_COMPLETED)
            closing.cancel()

    async def _hold_endpoint(self, endpoint: Endpoint) -> None:
        wire = Wire(endpoint)
        async with (
            wire.client() as client,
            streamable_http_client(endpoint.url, http_client=client, max_sse_event_size=None) as streams,
            beginning(*streams, wire=wire, log=self._log) as begun,
        ):
            self._connection.set_result(await self._agreed(begun))
            await self._closing.wait()

    async def _agreed(self, begun: Beginning) -> Connection:
        try:
            async with asyncio.timeout(self._server.startup_seconds):
                return await begun.agreed()
        except TimeoutError:
            raise self.no_answer() from None

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        if text := logged("notifications/message", params.model_dump(mode="json")):
            self.overheard.log(text)

    def _not_opened(self, error: CannotStartError) -> None:
        if not self._connection.done():
            self._connection.set_exception(error)
            # Nobody may be waiting: then nobody is to be told that nobody asked.
            self._connection.exception()

    async def _explained(self, ending: Broken) -> CallEnding:
        """Say why the connection broke, as soon as it is known."""
        if self._process is not None:
            return Broken(f"its server {await self._process.how_it_ended()}")
        if ending.reason != SDK_CLOSED:
            return ending
        await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if self._broken_by is None:
            return ending
        if never_sent(self._broken_by):
            return unreachable(self._broken_by).ending
        return Broken(f"the connection to its server broke: {reason_of(self._broken_by)}")
