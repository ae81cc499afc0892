"""Old tool results cut to a few hundred bytes, so that a conversation has room to go on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surefoot.conversation import AssistantMessage, Message, ToolMessage, message_bytes
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import encode_json

SHORT_RESULT_BYTES = 512
"""What is left of an old result, or of either stream of an old failure."""

KEPT_TURNS = 3
"""The newest turns, whose results are left whole as long as that is enough."""

# No advice to call the tool again: not every tool only looks.
_NOTE = "[SHORTENED - the rest was left out to make room in the conversation]"


@dataclass(frozen=True)
class ShorterConversation:
    """The same messages with some results cut, and how many were."""

    messages: tuple[Message, ...]
    size_bytes: int
    results_shortened: int = 0


@dataclass(frozen=True)
class _Cut:
    position: int
    message: ToolMessage
    saved_bytes: int


def shortened(
    messages: Sequence[Message],
    *,
    target_bytes: int,
    keep_turns: int = KEPT_TURNS,
    result_bytes: int = SHORT_RESULT_BYTES,
) -> ShorterConversation:
    """Cut results to `result_bytes` each until the conversation is within `target_bytes`, or none is left.

    Large results go before small ones, and of like size the older ones first. The newest `keep_turns` turns
    stay as they are. Every outcome keeps its shape.
    """
    size = sum(message_bytes(message) for message in messages)
    cuts = sorted(_cuts(messages, keep_turns, result_bytes) if size > target_bytes else (), key=_worth)
    rewritten = list(messages)
    done = 0
    for cut in cuts:
        if size <= target_bytes:
            break
        rewritten[cut.position] = cut.message
        size -= cut.saved_bytes
        done += 1
    return ShorterConversation(tuple(rewritten), size, done)


def _worth(cut: _Cut) -> tuple[int, int]:
    return (-cut.saved_bytes.bit_length(), cut.position)


def _cuts(messages: Sequence[Message], keep_turns: int, result_bytes: int) -> Iterator[_Cut]:
    for position, message in enumerate(messages[: _end_of_old(messages, keep_turns)]):
        if isinstance(message, ToolMessage):
            short = message.model_copy(update={"outcome": _short(message.outcome, result_bytes)})
            saved_bytes = message_bytes(message) - message_bytes(short)
            # One that is hardly longer than its short form is worth more than the room it takes.
            if saved_bytes >= result_bytes // 4:
                yield _Cut(position, short, saved_bytes)


def _end_of_old(messages: Sequence[Message], keep_turns: int) -> int:
    replies = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    if keep_turns == 0:
        return len(messages)
    return replies[-keep_turns] if len(replies) >= keep_turns else 0


def _short(outcome: ToolSuccess | ToolFailure, result_bytes: int) -> ToolSuccess | ToolFailure:
    match outcome:
        case ToolSuccess(result=result):
            text = result if isinstance(result, str) else encode_json(result)
            cut = cut_middle(text, result_bytes)
            return outcome if cut == text else outcome.model_copy(update={"result": cut})
        case ToolFailure(stdout=stdout, stderr=stderr):
            streams = {
                "stdout": cut_middle(stdout, result_bytes),
                "stderr": cut_middle(stderr, result_bytes),
            }
            return outcome.model_copy(update=streams)


def cut_middle(text: str, limit_bytes: int, note: str = _NOTE) -> str:
    """Give the text within `limit_bytes`: whole if it fits, else its head and its tail around the note.

    A limit below 256 bytes counts as 256.
    """
    encoded = text.encode("utf-8", "replace")
    limit = max(limit_bytes, 256)
    if len(encoded) <= limit:
        return encoded.decode()
    room = limit - len(_marker(len(encoded), note))
    head = encoded[: room - room // 3].decode(errors="ignore")
    tail = encoded[len(encoded) - room // 3 :].decode(errors="ignore")
    left_out = len(encoded) - len(head.encode()) - len(tail.encode())
    return f"{head}{_marker(left_out, note)}{tail}"


def _marker(left_out_bytes: int, note: str) -> str:
    return f"\n... [{left_out_bytes:,} more bytes] ...\n{note}\n"
