"""Asks MCP servers for their tools, all of them side by side."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from activities.tools.mcp.connection import Listed
from activities.tools.mcp.endings import CannotStartError
from activities.tools.mcp.server import McpServer
from activities.tools.mcp.session import Session


@dataclass(frozen=True)
class Listing:
    """What a server lists, and the names of those that it describes wrongly, with the reasons."""

    tools: tuple[Listed, ...]
    misdescribed: tuple[tuple[str, str], ...]


def listings(
    servers: Sequence[McpServer], *, environment: Mapping[str, str], directory: Path
) -> list[Listing | CannotStartError]:
    """Ask each server, in a session of its own that is over when this returns; in their order.

    It may be called anywhere: its event loop is a thread's.
    """
    found: list[Listing | CannotStartError] = []

    def ask() -> None:
        found.extend(asyncio.run(_ask_all(servers, environment, directory)))

    thread = Thread(target=ask, name="tools of MCP servers")
    thread.start()
    thread.join()
    return found


async def _ask_all(
    servers: Sequence[McpServer], environment: Mapping[str, str], directory: Path
) -> list[Listing | CannotStartError]:
    return await asyncio.gather(*(_ask(server, environment, directory) for server in servers))


async def _ask(
    server: McpServer, environment: Mapping[str, str], directory: Path
) -> Listing | CannotStartError:
    session = Session(server, environment=environment, directory=directory)
    listing = asyncio.create_task(_listing(session))
    try:
        await asyncio.wait({listing}, timeout=server.startup_seconds)
        if listing.done():
            return listing.result()
        listing.cancel()
        return session.no_answer()
    except CannotStartError as error:
        return error
    finally:
        await session.close()


async def _listing(session: Session) -> Listing:
    tools, misdescribed = await session.tools()
    return Listing(tuple(tools), tuple(misdescribed))
