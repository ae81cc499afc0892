"""What a run takes along when it continues as new, small enough for the input of the next one."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping

from pydantic import Field

from surefoot.context import NOTHING_KNOWN, Context
from surefoot.conversation import NOTHING_KEPT, Conversation, Kept, Message, Prefix
from surefoot.definition import ToolDefinition
from surefoot.limits import Limits
from surefoot.progress import Progress
from surefoot.run import SendMessage
from surefoot.sizes import MAX_CARRIED_TEXT_BYTES
from surefoot.slices import Slice
from surefoot.spent import Spent
from surefoot.steering import Hold
from surefoot.truncation import truncate
from surefoot.untrusted import UntrustedSource
from surefoot.wire import WireModel, is_empty, is_none


class Said(WireModel):
    """A conversation as it travels; its fields are those of `Conversation`, one under an older name."""

    messages: tuple[Message, ...]
    digest: str
    turns: int
    closing: bool = False
    unreadable_in_a_row: int = 0
    """The corrections in a row, which is the same between two turns."""
    last_text: str = ""
    base: Kept = NOTHING_KEPT
    size_bytes: int = 0

    @staticmethod
    def of(conversation: Conversation) -> "Said":
        """Give what travels; of a very long last text only the beginning does."""
        return Said(
            messages=conversation.messages,
            digest=conversation.digest,
            turns=conversation.turns,
            closing=conversation.closing,
            unreadable_in_a_row=conversation.corrections_in_a_row,
            last_text=truncate(conversation.last_text, MAX_CARRIED_TEXT_BYTES).text,
            base=conversation.base,
            size_bytes=conversation.size_bytes,
        )

    def conversation(self) -> Conversation:
        """Give the conversation that travelled."""
        return Conversation(
            messages=self.messages,
            digest=self.digest,
            turns=self.turns,
            closing=self.closing,
            corrections_in_a_row=self.unreadable_in_a_row,
            last_text=self.last_text,
            base=self.base,
            size_bytes=self.size_bytes,
        )


class Carried(WireModel):
    """The state of a run between two turns."""

    tools: tuple[ToolDefinition, ...]
    said: Said
    given: Prefix
    """How much of the conversation the model has been given, its own replies included."""
    spent: Spent
    context: Context = NOTHING_KNOWN
    tool_executions: int = Field(default=0, ge=0)
    failed_tool_executions: int = Field(default=0, ge=0)
    events: int = Field(default=0, ge=0)
    """How many events the ledger holds already."""
    waiting: tuple[SendMessage, ...] = ()
    """Messages that the model has still to be told of."""
    unanswered: tuple[str, ...] = ()
    """The ids of messages that the model was told since its last answer."""
    approved_tools: tuple[str, ...] = ()
    """Those that need no approval for the rest of the run."""
    approved_after_untrusted: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """Those of them that were approved when untrusted content had been read."""
    untrusted: UntrustedSource | None = Field(default=None, exclude_if=is_none)
    """Where untrusted content first came from, if any did."""
    hold: Hold | None = None
    """What holds the run, if anything does."""
    limits: Limits | None = None
    """The limits that it has now; None are those of its input."""
    slices: Mapping[str, Slice] = {}
    """What reducers keep."""
    progress: Progress | None = None
    """What operators are shown."""


def pack(carried: Carried) -> str:
    """Compress what is carried into text."""
    return b64encode(zlib.compress(carried.model_dump_json().encode())).decode()


def unpack(text: str) -> Carried:
    """Give what was packed; raises ValueError for any other text."""
    try:
        return Carried.model_validate_json(zlib.decompress(b64decode(text, validate=True)))
    except zlib.error as error:
        raise ValueError(f"what the run carries cannot be unpacked: {error}") from None
