import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import httpx2
import pytest

from workers.codec_server.application import CodecApplication
from workers.codec_server.guards import Guard, TokenGuard
from workers.codec_server.rate_limit import RateLimit
from workers.codec_server.serving import listen, serve_codec
from workers.encryption.codec import EncryptionCodec
from workers.encryption.keys import EncryptionKey, Keyring

UI = "https://temporal.example"
TOKEN = "a-token-of-32-characters-or-so-.."
KEYRING = Keyring((EncryptionKey("new", b"n" * 32), EncryptionKey("old", b"o" * 32)))


@dataclass(frozen=True)
class Served:
    """A codec server that is up."""

    http: httpx2.AsyncClient

    async def ask(self, path: str, content: str | bytes, **headers: str) -> httpx2.Response:
        """Post a body; a header's `_` stands for `-`."""
        named = {"Authorization": f"Bearer {TOKEN}", "X-Namespace": "default", "Origin": UI}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post(path, content=content, headers=named)


@asynccontextmanager
async def served(
    *, guard: Guard | None = None, limit: RateLimit | None = None, keyring: Keyring = KEYRING
) -> AsyncGenerator[Served]:
    """Serve on a free port, as `surefoot codec-server` does."""
    application = CodecApplication(
        EncryptionCodec(keyring),
        guard or TokenGuard(TOKEN),
        frozenset({UI}),
        limit or RateLimit(1000),
    )
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        serving = asyncio.create_task(serve_codec(application, listening))
        try:
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
                yield Served(http)
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


@pytest.fixture
async def server() -> AsyncGenerator[Served]:
    async with served() as one:
        yield one
