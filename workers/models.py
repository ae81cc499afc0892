"""Which model a name stands for."""

import asyncio
from collections.abc import Awaitable, Mapping
from pathlib import Path

from activities.interface import LlmTurnInput
from activities.llm_turn import OpenModel
from activities.model import Model, ModelRefusedError
from activities.price_table import NO_PRICES, PriceTable, PriceTableError, load_price_table
from activities.prices import ModelPrices, PricedModel, price_unknown
from activities.providers.opening import ProviderModels
from activities.providers.settings import ProviderSettings
from activities.scripted.model import ScriptedModel
from activities.scripted.script import load_script
from surefoot.run import Protocol
from workers.environment import process_environment
from workers.settings import Settings, SettingsError

SCRIPTED = "scripted:"


def is_scripted(name: str) -> bool:
    """Tell whether a model speaks from a file, which is quickly checked."""
    return name.startswith(SCRIPTED)


def provider_settings(environment: Mapping[str, str], *, streaming: bool = True) -> ProviderSettings:
    """Read the providers' own variables; an empty one counts as unset."""
    return ProviderSettings(
        openai_api_key=environment.get("OPENAI_API_KEY") or None,
        openai_base_url=environment.get("OPENAI_BASE_URL") or None,
        anthropic_api_key=environment.get("ANTHROPIC_API_KEY") or None,
        anthropic_base_url=environment.get("ANTHROPIC_BASE_URL") or None,
        streaming=streaming,
    )


def model_opener(settings: ProviderSettings, prices: PriceTable = NO_PRICES) -> OpenModel:
    """Give what a worker opens the models of its turns with; a provider's model is opened once.

    `prices` is the user's own table.
    """
    providers = ProviderModels(settings)
    ready: set[tuple[str, Protocol]] = set()

    def open_now(turn: LlmTurnInput, attempt: int) -> Model:
        model = _open(turn.model, turn.protocol, providers, attempt)
        priced = _priced(model, ModelPrices(turn.model, prices), cost_limited=turn.cost_limited)
        if not is_scripted(turn.model):
            ready.add((turn.model, turn.protocol))
        return priced

    def open_model(turn: LlmTurnInput, attempt: int) -> Model | Awaitable[Model]:
        if (turn.model, turn.protocol) in ready:
            return open_now(turn, attempt)
        # A script is read from its file, and the first of a provider's models imports for a second.
        return asyncio.to_thread(open_now, turn, attempt)

    return open_model


def own_models(settings: Settings) -> OpenModel:
    """Give what a worker opens models with: keys, addresses and prices are those of this process.

    Raises:
        SettingsError: the price table cannot be used.
    """
    providers = provider_settings(process_environment(), streaming=settings.model_streaming)
    return model_opener(providers, price_table(settings))


def price_table(settings: Settings) -> PriceTable:
    """Read the user's own prices.

    Raises:
        SettingsError: the price table cannot be used.
    """
    if settings.prices is None:
        return NO_PRICES
    try:
        return load_price_table(settings.prices.expanduser())
    except PriceTableError as error:
        raise SettingsError(f"SUREFOOT_PRICES cannot be used: {error}") from None


def check_form(name: str) -> None:
    """Find out that a name is no model's, wherever it is to be asked.

    Raises:
        ModelRefusedError: it does not say who provides the model.
    """
    if ":" not in name:
        raise ModelRefusedError(
            f"'{name}' is no model: a model is scripted:FILE or PROVIDER:NAME, such as openai-chat:gpt-5-mini"
        )


def check_model(
    name: str,
    protocol: Protocol,
    settings: ProviderSettings,
    *,
    prices: PriceTable = NO_PRICES,
    cost_limited: bool = False,
) -> None:
    """Find out before a run starts that its model cannot be asked; slow the first time (it loads providers).

    Raises:
        ModelRefusedError: an unknown model, a missing key, a script that cannot be read, or no known price
            where one is needed.
    """
    model = _open(name, protocol, ProviderModels(settings), attempt=1)
    _priced(model, ModelPrices(name, prices), cost_limited=cost_limited)


def _priced(model: Model, prices: ModelPrices, *, cost_limited: bool) -> PricedModel:
    by_itself = isinstance(model, ScriptedModel) and model.script.price is not None
    if cost_limited and not by_itself and prices.known().cost is None:
        raise price_unknown(prices.name)
    return PricedModel(model, prices)


def _open(name: str, protocol: Protocol, providers: ProviderModels, attempt: int) -> Model:
    if is_scripted(name):
        return ScriptedModel(load_script(Path(name.removeprefix(SCRIPTED))), attempt)
    check_form(name)
    return providers.open(name, protocol)
