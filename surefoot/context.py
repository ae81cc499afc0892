"""How full a model's context window is, and what a conversation has to shrink to."""

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


def is_full(size_bytes: int, *, window_tokens: int | None, counted: Counted = NEVER_COUNTED) -> bool:
    """Tell whether a conversation must be made smaller before its next turn.

    A window that is not known (None) is never full: only the provider's own error tells.
    """
    if window_tokens is None:
        return False
    return tokens_in(size_bytes, counted) > window_tokens * FULL_PERCENT // 100


def target_bytes(size_bytes: int, *, window_tokens: int | None, counted: Counted = NEVER_COUNTED) -> int:
    """Tell the size that a conversation is to have afterwards, at most half of what it has.

    It is above half of the window, or the provider refused it, so that half of it always is progress.
    """
    half = size_bytes // 2
    if window_tokens is None:
        return half
    return min(half, int(window_tokens * TARGET_PERCENT // 100 * counted.bytes_per_token))
