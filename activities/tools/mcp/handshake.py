"""How a session with a server begins."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp import ClientSession, types
from mcp.client.session import LoggingFnT
from mcp.shared._stream_protocols import ReadStream, WriteStream  # the SDK's transports give no others
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION
from pydantic import ValidationError

from activities.tools.mcp.connection import Connection, Dispatcher
from activities.tools.mcp.endings import CannotStartError, Refused
from activities.tools.mcp.protocol_errors import ending_of, first_flaw, said
from activities.tools.mcp.wire import Wire

CLIENT = types.Implementation(name="surefoot", version="1")


class Beginning:
    """A session that its server does not know of yet; it refuses whatever a server asks of its client."""

    def __init__(self, session: ClientSession, dispatcher: Dispatcher, wire: Wire | None) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._wire = wire

    async def agreed(self) -> Connection:
        """Open the session, with a server of whatever version of the protocol that is known.

        Raises:
            CannotStartError: the server did not do its part.
        """
        try:
            await self._agree()
        except MCPError as error:
            reason = f"its server gives no session: {said(ending_of(error, self._wire))}"
            raise CannotStartError(reason) from None
        except ValidationError as error:
            reason = f"its server does not answer as one of the protocol: {first_flaw(error)}"
            raise CannotStartError(reason) from None
        except RuntimeError as error:
            raise CannotStartError(str(error)) from None
        return Connection(self._session, self._dispatcher, self._wire)

    async def _agree(self) -> None:
        try:
            await self._session.initialize()
        except MCPError as error:
            match ending_of(error, self._wire):
                case Refused(code=code) if code in (UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND):
                    # A server of the newest versions alone: they begin in another way.
                    await self._session.discover()
                case _:
                    raise


@asynccontextmanager
async def beginning(
    messages: ReadStream[SessionMessage | Exception],
    exchange: WriteStream[SessionMessage],
    *,
    wire: Wire | None = None,
    log: LoggingFnT | None = None,
) -> AsyncGenerator[Beginning]:
    """Have a session over these streams; `log` is given what its server logs."""
    dispatcher = Dispatcher(messages, exchange)
    async with ClientSession(dispatcher=dispatcher, client_info=CLIENT, logging_callback=log) as session:
        yield Beginning(session, dispatcher, wire)
