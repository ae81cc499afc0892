"""An MCP server over stdio: started, held and ended by the worker."""

from mcp.server import MCPServer

server = MCPServer("glossary")

MEANINGS = {"durable": "goes on where it was, whatever died meanwhile", "outcome": "what a call came to"}


@server.tool()
def meaning(word: str) -> str:
    """Say what a word of ours means."""
    return MEANINGS.get(word, "nobody knows")


if __name__ == "__main__":
    server.run()
