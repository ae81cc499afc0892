"""What a worker knows of the providers of its models."""

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True)
class ProviderSettings:
    """Keys and addresses; providers that have no field here read their own environment variables.

    `openai_base_url` names any server that speaks OpenAI's protocol; such a server may need no key.
    """

    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    anthropic_api_key: str | None = field(default=None, repr=False)
    anthropic_base_url: str | None = None
    openai_cache_keys: bool | None = None
    """Whether `openai_base_url` takes keys for its prompt cache; None: if it is OpenAI's own."""
    streaming: bool = True
    """Whether replies are asked for in pieces, so that they can be looked at while they are written."""
    request_timeout: timedelta = timedelta(minutes=9)
    """How long one request may take; below the ten minutes of a turn, so that the reason is told."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not appear in any message."""
        return tuple(key for key in (self.openai_api_key, self.anthropic_api_key) if key)
