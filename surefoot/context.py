"""How full a model's context window is, and what a conversation has to shrink to."""

from surefoot.usage import Usage
from surefoot.wire import WireModel

FULL_PERCENT = 80
"""A conversation above this share of the window is made smaller; the rest is for the reply."""

TARGET_PERCENT = 50
"""What it is made smaller to: each rewrite loses the provider's cache, so that the next is to come late."""

UNCOUNTED_BYTES_PER_TOKEN = 3
"""What a token is taken for where no provider has counted: a little less than it mostly is."""

_FEWEST_BYTES_PER_TOKEN = 1
_MOST_BYTES_PER_TOKEN = 8


class Counted(WireModel):
    """How many tokens a provider counted for a conversation of so many bytes of JSON."""

    tokens: int = 0
    size_bytes: int = 0

    @property
    def bytes_per_token(self) -> float:
        """How many bytes a token stands for, within what any tokenizer may do."""
        if self.tokens <= 0 or self.size_bytes <= 0:
            return UNCOUNTED_BYTES_PER_TOKEN
        told = self.size_bytes / self.tokens
        return min(max(told, _FEWEST_BYTES_PER_TOKEN), _MOST_BYTES_PER_TOKEN)


NEVER_COUNTED = Counted()


def tokens_in(size_bytes: int, counted: Counted = NEVER_COUNTED) -> int:
    """Tell the tokens of a conversation of this size: what was counted, and an estimate of the rest."""
    beyond = (size_bytes - counted.size_bytes) / counted.bytes_per_token
    return max(round(counted.tokens + beyond), 0)


def target_bytes(
    size_bytes: int,
    *,
    window_tokens: int | None,
    counted: Counted = NEVER_COUNTED,
    fixed_bytes: int = 0,
) -> int:
    """Tell the size that a conversation is to have: half of what its fixed part leaves of the window.

    `fixed_bytes` of it never go. Where the window is not known (None), it is half of what can go of the
    conversation that did not fit it. It always is less than the conversation has, whatever was counted.
    """
    free = max(size_bytes - fixed_bytes, 0)
    if window_tokens is None:
        return fixed_bytes + free // 2
    window_bytes = int(window_tokens * counted.bytes_per_token)
    half = max(window_bytes - fixed_bytes, 0) * TARGET_PERCENT // 100
    return fixed_bytes + min(half, free * TARGET_PERCENT // FULL_PERCENT)


class Overflow(WireModel):
    """What a provider said of a conversation that did not fit; None for what it did not say."""

    window_tokens: int | None = None
    tokens: int | None = None


class Context(WireModel):
    """What a run knows of its model's context window and of how full it is, from one turn to the next."""

    window_tokens: int | None = None
    """What is published of the model, or set; None while nothing is known."""
    told_window_tokens: int | None = None
    """What the provider itself said when a conversation did not fit; it counts before all else."""
    counted: Counted = NEVER_COUNTED
    again_above_bytes: int = 0
    """A conversation that could not be made small enough is left alone up to this size."""

    @property
    def window(self) -> int | None:
        """The window in tokens; None = unknown."""
        return self.told_window_tokens or self.window_tokens

    def tokens_in(self, size_bytes: int) -> int:
        """Tell the tokens of a conversation of this size: what was counted, and an estimate of the rest."""
        return tokens_in(size_bytes, self.counted)

    def is_full(self, size_bytes: int) -> bool:
        """Tell whether a conversation must be made smaller before its next turn.

        A window that is not known is never full: only the provider's own error tells.
        """
        if self.window is None or size_bytes <= self.again_above_bytes:
            return False
        return self.tokens_in(size_bytes) > self.window * FULL_PERCENT // 100

    def after_reply(self, usage: Usage, window_tokens: int | None, size_bytes: int) -> "Context":
        """Take in what a turn cost; `size_bytes` is the conversation's, with the reply."""
        tokens = usage.input_tokens + usage.output_tokens
        counted = Counted(tokens=tokens, size_bytes=size_bytes) if usage.input_tokens else self.counted
        return self.model_copy(
            update={"window_tokens": window_tokens or self.window_tokens, "counted": counted}
        )

    def after_overflow(self, told: Overflow, size_bytes: int) -> "Context":
        """Take in what the provider said of a conversation of this size that did not fit."""
        tokens = told.tokens or max(self.tokens_in(size_bytes), self.window or 0)
        return self.model_copy(
            update={
                "told_window_tokens": told.window_tokens or self.told_window_tokens,
                "counted": Counted(tokens=tokens, size_bytes=size_bytes),
            }
        )

    def after_compaction(self, tokens: int, size_bytes: int) -> "Context":
        """Take in that the conversation has this size now, and about so many tokens."""
        context = self.model_copy(
            update={"counted": Counted(tokens=tokens, size_bytes=size_bytes), "again_above_bytes": 0}
        )
        if context.window is None or not context.is_full(size_bytes):
            return context
        window_bytes = int(context.window * context.counted.bytes_per_token)
        # Half of what is left of the window, or what the provider has to refuse first.
        again = (size_bytes + window_bytes) // 2 if size_bytes < window_bytes else size_bytes * 5 // 4
        return context.model_copy(update={"again_above_bytes": again})


NOTHING_KNOWN = Context()
