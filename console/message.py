"""What is said to a session, and that it listens, as people read it."""

from collections.abc import Iterator

from console.safe_text import safe_line
from console.wording import first_lines
from surefoot.events import Answered, MessageReceived

_MAX_LINES = 10
_MAX_NAME_CHARACTERS = 60


def message_lines(message: MessageReceived | Answered) -> Iterator[str]:
    """Print a message like the prompt of a run: its first lines, each behind a mark; or that one is due."""
    if isinstance(message, Answered):
        yield "waits for the next message"
        return
    yield f"message received{message_from(message)}"
    for line in first_lines(message.text, _MAX_LINES):
        yield f"> {line}"


def message_from(message: MessageReceived) -> str:
    """Print who sent a message, if they said: ` from Ada`, else nothing."""
    return f" from {safe_line(message.sender, _MAX_NAME_CHARACTERS)}" if message.sender else ""
