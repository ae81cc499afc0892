from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pytest

from activities.interface import LlmTurnResult
from activities.price_table import NO_PRICES, ModelFacts, PriceTable
from activities.prices import ModelPrices, PricedModel
from activities.published_prices import UNKNOWN, Known
from surefoot.conversation import AssistantMessage, Message
from surefoot.usage import Usage

MILLION = Usage(requests=1, input_tokens=1_000_000, output_tokens=1_000_000, cache_read_tokens=500_000)
PRICE = ModelFacts(input=Decimal(1), output=Decimal(2), context_window=4_000)
CHAT = "openai-chat:gpt-4o"


def known(cost: str, context_window: int | None) -> Known:
    return Known(Decimal(cost), context_window)


@pytest.mark.parametrize(
    ("name", "table", "answered_by", "expected"),
    [
        pytest.param(CHAT, {}, "gpt-4o-2024-08-06", known("11.875", 128_000), id="published"),
        pytest.param(CHAT, {}, "something-new", known("11.875", 128_000), id="published for what was asked"),
        pytest.param("openai-chat:mine", {}, "mine-2", UNKNOWN, id="published nowhere"),
        pytest.param("nobody:mine", {}, "mine", UNKNOWN, id="of a provider that nobody knows"),
        pytest.param(CHAT, {CHAT: PRICE}, "gpt-4o-2024-08-06", known("3", 4_000), id="the user's own"),
        pytest.param(CHAT, {"gpt-4o": PRICE}, "x", known("3", 4_000), id="without its provider"),
        pytest.param(CHAT, {"x": PRICE}, "x", known("3", 4_000), id="as the provider names it"),
        pytest.param(CHAT, {"other": PRICE}, "x", known("11.875", 128_000), id="of another model"),
        pytest.param(
            CHAT, {CHAT: ModelFacts(context_window=9)}, "x", known("11.875", 9), id="only the window is own"
        ),
        pytest.param(
            CHAT,
            {CHAT: ModelFacts(input=Decimal(0), output=Decimal(0))},
            "x",
            known("0", 128_000),
            id="free, and the window as published",
        ),
        pytest.param("scripted:/a/b.yaml", {}, "scripted:b.yaml", UNKNOWN, id="a script"),
        pytest.param(
            "scripted:/a/b.yaml",
            {"scripted:b.yaml": PRICE},
            "scripted:b.yaml",
            known("3", 4_000),
            id="priced",
        ),
    ],
)
def test_the_users_table_comes_before_what_is_published(
    name: str, table: dict[str, ModelFacts], answered_by: str, expected: Known
) -> None:
    assert ModelPrices(name, PriceTable(table)).known(MILLION, answered_by=answered_by) == expected


def test_more_cached_than_sent_is_no_reason_to_fail() -> None:
    usage = Usage(requests=1, input_tokens=0, cache_read_tokens=1_000_000)
    assert ModelPrices(CHAT).known(usage).cost == Decimal("1.25")


@dataclass(frozen=True)
class Told:
    """A model that gives one result."""

    result: LlmTurnResult

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        return self.result


@pytest.mark.parametrize(
    ("table", "cost", "context_window"),
    [
        pytest.param(NO_PRICES, Decimal(7), 70, id="what the model says of itself"),
        pytest.param(PriceTable({"nobody:m": PRICE}), Decimal(3), 4_000, id="the table, if it knows better"),
    ],
)
async def test_a_priced_reply_says_what_it_cost_and_how_much_fits(
    table: PriceTable, cost: Decimal, context_window: int
) -> None:
    usage = MILLION.model_copy(update={"cost": Decimal(7)})
    result = LlmTurnResult(reply=AssistantMessage(text="a"), usage=usage, model_name="m", context_window=70)
    priced = await PricedModel(Told(result), ModelPrices("nobody:m", table)).reply((), closing=False)
    assert (priced.usage.cost, priced.context_window) == (cost, context_window)
    assert priced.reply == result.reply
