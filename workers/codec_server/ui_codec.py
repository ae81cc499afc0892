"""The codec of the embedded server's own UI, for as long as a command stays up."""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from workers.encryption.configured_keys import configured_keys
from workers.encryption.keys import Keyring
from workers.server_ports import HOST, PortTakenError, ServerPorts
from workers.server_process import find_server
from workers.settings import Settings
from workers.state_directory import StateDirectory

_TRIED_AGAIN_SECONDS = 1

_log = logging.getLogger("surefoot.codec")


@asynccontextmanager
async def ui_codec(settings: Settings) -> AsyncGenerator[None]:
    """Within it, decrypt for the UI of the server that runs, where the server told it to ask.

    Another command may be doing so: then this one takes over when that one leaves. Without keys there is
    nothing to decrypt. Raises SettingsError when they cannot be used.
    """
    keyring = configured_keys(settings)
    server = find_server(StateDirectory(settings.state_directory).database)
    if not keyring or server is None:
        yield
        return
    answering = asyncio.create_task(_answer(keyring, server.ports, settings.codec_requests_per_minute))
    try:
        yield
    finally:
        answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering


async def _answer(keyring: Keyring, ports: ServerPorts, requests_per_minute: int) -> None:
    if ports.codec_port is None:
        _log.warning("the UI shows what is encrypted as it is: its server was started without keys")
        return
    # Loaded only where there are keys: it takes as long as all the rest of a command.
    from workers.codec_server.application import CodecApplication
    from workers.codec_server.guards import Everybody
    from workers.codec_server.rate_limit import RateLimit
    from workers.codec_server.serving import serve_codec
    from workers.encryption.codec import EncryptionCodec

    # A page asks for each of its values, and who asks is whoever sits here: only refusals are told.
    _log.setLevel(logging.WARNING)
    # A page has its origin by either name of the machine.
    origins = frozenset(f"http://{name}:{ports.ui_port}" for name in (HOST, "localhost"))
    limit = RateLimit(requests_per_minute)
    application = CodecApplication(EncryptionCodec(keyring), Everybody(), origins, limit)
    with await _listening(ports.codec_port) as listening:
        await serve_codec(application, listening)


async def _listening(port: int) -> socket.socket:
    from workers.codec_server.serving import listen

    told = False
    while True:
        try:
            return listen(HOST, port)
        except PortTakenError as error:
            if not told:
                _log.warning("another process answers the UI, or nobody does: %s", error)
            told = True
            await asyncio.sleep(_TRIED_AGAIN_SECONDS)
