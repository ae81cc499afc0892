"""What the replies of a model cost, and how much fits it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from activities.draft import Draft
from activities.interface import LlmTurnResult
from activities.model import DraftingModel, Model, ModelRefusedError, drafted
from activities.price_table import NO_PRICES, PriceTable
from activities.published_prices import UNKNOWN, Known, look_up
from surefoot.conversation import Message
from surefoot.usage import NO_USAGE, Usage


@dataclass(frozen=True)
class ModelPrices:
    """What is known of the model that a run names: from the user's table first, then what is published."""

    name: str
    """As `--model` has it: `provider:name`."""
    table: PriceTable = NO_PRICES

    def known(self, usage: Usage = NO_USAGE, *, answered_by: str | None = None) -> Known:
        """Tell what this usage costs, and how much fits the model.

        `answered_by` is the provider's own name for it. The first call for a provider takes half a second,
        and belongs into a thread.
        """
        provider, _, model = self.name.partition(":")
        names = (model,) if answered_by is None else (answered_by, model)
        published = _published(provider, names, usage) if self.may_be_published else UNKNOWN
        said = self.table.find(self.name, *names)
        if said is None:
            return published
        if said.price is not None:
            published = replace(published, cost=said.price.cost(usage))
        if said.context_window is not None:
            published = replace(published, context_window=said.context_window)
        return published

    @property
    def may_be_published(self) -> bool:
        """Whether anybody could publish prices of this model; nobody does of a script."""
        return not self.name.startswith("scripted:")


@dataclass(frozen=True)
class PricedModel:
    """A model whose replies say what they cost and how much fits it, where the model itself does not."""

    model: Model
    prices: ModelPrices

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        """Ask the model; raises what it raises."""
        return await self.draft_reply(messages, closing=closing, draft=Draft())

    async def draft_reply(self, messages: Sequence[Message], *, closing: bool, draft: Draft) -> LlmTurnResult:
        """Ask the model, and let it be looked at if it can be; raises what it raises."""
        result = await drafted(self.model, messages, closing=closing, draft=draft)
        known = await self._known(result)
        cost = result.usage.cost if known.cost is None else known.cost
        window = result.context_window if known.context_window is None else known.context_window
        usage = result.usage.model_copy(update={"cost": cost})
        return result.model_copy(update={"usage": usage, "context_window": window})

    async def _known(self, result: LlmTurnResult) -> Known:
        usage, answered_by = result.usage, result.model_name
        if not self.prices.may_be_published:
            return self.prices.known(usage, answered_by=answered_by)
        # In a thread, for the list takes a while to load the first time, while tools here have to beat.
        return await asyncio.to_thread(self.prices.known, usage, answered_by=answered_by)


_fits: type[DraftingModel] = PricedModel


def price_unknown(name: str) -> ModelRefusedError:
    """Say that a run with a cost limit cannot use this model, and what to do about it."""
    return ModelRefusedError(
        f"the price of '{name}' is not known, and this run has a cost limit: "
        "put it into the file that SUREFOOT_PRICES names"
    )


def _published(provider: str, names: Sequence[str], usage: Usage) -> Known:
    published = UNKNOWN
    for name in reversed(names):
        found = look_up(provider, name, usage)
        published = Known(
            published.cost if found.cost is None else found.cost,
            published.context_window if found.context_window is None else found.context_window,
        )
    return published
