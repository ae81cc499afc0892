"""What people read when a conversation was made smaller to fit its model's window."""

from surefoot.events import ContextCompacted


def compaction_text(event: ContextCompacted) -> str:
    """Say on one line why, how, and how much smaller the conversation is."""
    done = [
        f"{number:,} {thing}{'' if number == 1 else 's'} {how}"
        for number, thing, how in (
            (event.results_shortened, "result", "shortened"),
            (event.turns_summarised, "turn", "summarised"),
        )
        if number
    ]
    how = ", ".join(done) or "nothing left to shorten"
    sizes = f"{_kilobytes(event.bytes_before)} -> {_kilobytes(event.bytes_after)}"
    return f"{_WHY[event.reason]}: {how}, {sizes}"


_WHY = {"full": "context window nearly full", "overflow": "conversation too long for the model"}


def _kilobytes(size_bytes: int) -> str:
    return f"{max(round(size_bytes / 1024), 1):,} KB"
