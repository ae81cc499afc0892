"""`surefoot codec-server`: have Temporal's UI and command show what is encrypted."""

import logging
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Annotated

import typer

from console.entry import run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.interrupt import Interrupt
from workers.logging import configure_logging
from workers.settings import PREFIX, Settings

if TYPE_CHECKING:
    from workers.codec_server.application import CodecApplication

USUAL_PORT = 8235

_log = logging.getLogger("surefoot.codec")


@dataclass(frozen=True)
class _Asked:
    host: IPv4Address | IPv6Address
    port: int
    origins: tuple[str, ...]
    no_auth: bool


def codec_server(
    origin: Annotated[
        list[str] | None,
        typer.Option(
            "--origin", metavar="URL", help="A UI that may ask, as its address begins; can be repeated."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="IP", help="The address to listen on; by default this machine's alone.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 is any free one.")
    ] = USUAL_PORT,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Ask nobody for a token; only on this machine's own address.")
    ] = False,
) -> int:
    """Decrypt for Temporal's UI and its `temporal` command, with the keys of SUREFOOT_ENCRYPTION_KEYS.

    Who asks has to show SUREFOOT_CODEC_TOKEN, or a bearer token of SUREFOOT_CODEC_OIDC_ISSUER. Ctrl-C and
    SIGTERM end it with exit code 130.
    """
    configure_logging()
    settings = settings_or_complain()
    try:
        address = ip_address(host)
    except ValueError:
        raise CommandError(f"--host {host!r} is no IP address") from None
    if no_auth and not address.is_loopback:
        raise CommandError(f"--no-auth is for this machine alone, and not for {host}")
    asked = _Asked(address, port, tuple(origin or ()), no_auth)
    return run_to_exit_code(lambda interrupt: _serve(asked, settings, interrupt))


# What follows is loaded where it is needed: no other command needs it.


async def _serve(asked: _Asked, settings: Settings, interrupt: Interrupt) -> ExitCode:
    import asyncio

    from workers.codec_server.serving import listen, serve_codec

    application = await _application(asked, settings)
    with listen(str(asked.host), asked.port) as listening, interrupt.heeded("Stopping."):
        taken = listening.getsockname()[1]
        named = f"[{asked.host}]" if asked.host.version == 6 else str(asked.host)
        _log.info("serving http://%s:%s", named, taken)
        serving = asyncio.create_task(serve_codec(application, listening))
        await interrupt.first(serving)
        serving.cancel()
        await asyncio.wait({serving})
    # Nothing but a signal ends it.
    return ExitCode.DETACHED


async def _application(asked: _Asked, settings: Settings) -> "CodecApplication":
    from workers.codec_server.application import CodecApplication
    from workers.codec_server.configured_guard import configured_guard
    from workers.codec_server.guards import Everybody
    from workers.codec_server.origins import NotAnOriginError, origin
    from workers.codec_server.rate_limit import RateLimit
    from workers.encryption.codec import EncryptionCodec
    from workers.encryption.configured_keys import configured_keys

    keyring = configured_keys(settings)
    if not keyring:
        raise CommandError(
            f"there is no key to decrypt with: set {PREFIX}ENCRYPTION_KEYS or {PREFIX}ENCRYPTION_KEYS_FILE"
        )
    try:
        origins = frozenset(origin(each) for each in asked.origins)
    except NotAnOriginError as error:
        raise CommandError(f"--origin {error}") from None
    guard = await configured_guard(settings)
    if guard is None and not asked.no_auth:
        raise CommandError(
            f"anybody could ask: set {PREFIX}CODEC_TOKEN or {PREFIX}CODEC_OIDC_ISSUER, "
            "or allow it with --no-auth"
        )
    if guard is not None and asked.no_auth:
        raise CommandError("--no-auth contradicts the token or the issuer of the settings")
    limit = RateLimit(settings.codec_requests_per_minute)
    return CodecApplication(EncryptionCodec(keyring), guard or Everybody(), origins, limit)
