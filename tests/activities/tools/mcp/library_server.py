"""A well-behaved MCP server, written with the SDK: over stdio, or over HTTP at a port."""

import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel, Field


class Book(BaseModel):
    title: str
    copies: int


library = MCPServer("library")
_BOOKS = {"moby": Book(title="Moby-Dick", copies=2)}


@library.tool(annotations={"readOnlyHint": True, "openWorldHint": False})  # pyright: ignore[reportArgumentType]  it is read as one
def find_book(name: Annotated[str, Field(description="A short name.")]) -> Book:
    """Find a book."""
    return _BOOKS[name]


@library.tool(structured_output=False)
async def lend(name: str, context: Context) -> str:
    """Lend a book."""
    await context.report_progress(1, 2, "looking")
    if name not in _BOOKS:
        raise ValueError(f"there is no book {name}")
    return f"Here is {_BOOKS[name].title}."


if __name__ == "__main__":
    if len(sys.argv) > 1:
        library.run("streamable-http", port=int(sys.argv[1]))
    else:
        library.run("stdio")
