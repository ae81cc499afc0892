"""The models of real providers, opened by name; pydantic-ai itself is imported when the first is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.providers.settings import ProviderSettings
from surefoot.run import Protocol

if TYPE_CHECKING:
    from activities.providers.model import ProviderModel


def open_provider_model(name: str, *, protocol: Protocol, settings: ProviderSettings) -> ProviderModel:
    """Give the model that a `provider:name` stands for, without asking the provider anything.

    The first call takes 1 to 3 seconds. A model holds connections and belongs to one event loop.

    Raises:
        ModelRefusedError: with one sentence; no such provider, a missing key, a missing package.
    """
    # Here, not above: pydantic-ai and the providers' clients take seconds to import.
    from activities.providers.model import ProviderModel
    from activities.providers.names import infer

    return ProviderModel(infer(name, settings), protocol=protocol, settings=settings)


class ProviderModels:
    """The open models of one worker, each opened once."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._open: dict[tuple[str, Protocol], ProviderModel] = {}

    def open(self, name: str, protocol: Protocol) -> ProviderModel:
        """Give the model as `open_provider_model` does, the same one each time."""
        key = (name, protocol)
        if key not in self._open:
            self._open[key] = open_provider_model(name, protocol=protocol, settings=self._settings)
        return self._open[key]

    async def close(self) -> None:
        """Close the connections of every model; on the event loop that used them."""
        while self._open:
            _, model = self._open.popitem()
            await model.close()
