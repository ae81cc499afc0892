from contextlib import nullcontext
from decimal import Decimal
from inspect import isawaitable
from pathlib import Path

import pytest

from activities.interface import LlmTurnInput
from activities.llm_turn import OpenModel
from activities.model import Model, ModelRefusedError
from activities.price_table import NO_PRICES, ModelFacts, PriceTable
from activities.prices import ModelPrices, PricedModel
from activities.providers.settings import ProviderSettings
from activities.scripted.model import ScriptedModel
from surefoot.conversation import Prefix, SystemMessage, UserMessage
from tests.activities.openai_server import ModelServer, Reply
from workers.models import model_opener, own_models, provider_settings
from workers.settings import load_settings

KEYS = ProviderSettings(openai_api_key="no-key", openai_base_url="http://127.0.0.1:9")


def turn(model: str, *, cost_limited: bool = False) -> LlmTurnInput:
    nothing = Prefix()
    return LlmTurnInput(
        turn=1,
        model=model,
        protocol="native",
        prefix=nothing,
        new_messages=(),
        conversation=nothing,
        cost_limited=cost_limited,
    )


async def opened(opener: OpenModel, wanted: LlmTurnInput, attempt: int = 1) -> Model:
    model = opener(wanted, attempt)
    return await model if isawaitable(model) else model


def asked(model: Model) -> Model:
    """Give the model that a priced one asks."""
    assert isinstance(model, PricedModel)
    return model.model


def test_an_empty_variable_counts_as_unset() -> None:
    environment = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "http://127.0.0.1:9", "OTHER": "x"}

    assert provider_settings(environment) == ProviderSettings(openai_base_url="http://127.0.0.1:9")


async def test_a_script_is_read_for_every_turn_so_that_it_can_be_mended(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("steps:\n  - say: One.\n")
    opener = model_opener(KEYS)

    first = await opened(opener, turn(f"scripted:{script}"))
    script.write_text("steps:\n  - say: Two.\n")
    second = await opened(opener, turn(f"scripted:{script}"), 2)

    said, said_next = asked(first), asked(second)
    assert isinstance(said, ScriptedModel)
    assert isinstance(said_next, ScriptedModel)
    assert (said.attempt, said_next.attempt) == (1, 2)
    assert said.script != said_next.script


async def test_a_providers_model_is_opened_once_for_all_turns_and_in_a_thread() -> None:
    opener = model_opener(KEYS)

    opening = opener(turn("openai-chat:gpt-5-mini"), 1)
    assert isawaitable(opening)
    first = await opening
    others = [opener(turn("openai-chat:gpt-5-mini"), 1) for _ in range(3)]

    assert all(not isawaitable(other) and asked(other) is asked(first) for other in others)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("gpt-5-mini", "'gpt-5-mini' is no model: a model is scripted:FILE", id="no provider"),
        pytest.param("scripted:/no/such.yaml", "/no/such.yaml", id="no such script"),
        pytest.param("nobody:gpt", "nobody", id="a provider that nobody knows"),
    ],
)
async def test_a_model_that_cannot_be_opened_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(ModelRefusedError) as refused:
        await opened(model_opener(KEYS), turn(name))

    assert reason in refused.value.reason


PRICED_SCRIPT = "price: {input: 1, output: 2}\nsteps:\n  - say: One.\n"
OWN_PRICE = PriceTable({"openai-chat:mine": ModelFacts(input=Decimal(1), output=Decimal(2))})
ONLY_A_WINDOW = PriceTable({"openai-chat:mine": ModelFacts(context_window=8_000)})


@pytest.mark.parametrize(
    ("model", "prices", "refused"),
    [
        pytest.param("openai-chat:gpt-5-mini", NO_PRICES, False, id="a published price"),
        pytest.param("openai-chat:mine", OWN_PRICE, False, id="a price in the table"),
        pytest.param("openai-chat:mine", NO_PRICES, True, id="a model that nobody knows"),
        pytest.param("openai-chat:mine", ONLY_A_WINDOW, True, id="a table without its price"),
        pytest.param("scripted:{priced}", NO_PRICES, False, id="a script with a price"),
        pytest.param("scripted:{free}", NO_PRICES, True, id="a script without one"),
    ],
)
async def test_a_run_with_a_cost_limit_asks_no_model_of_unknown_price(
    tmp_path: Path, model: str, prices: PriceTable, refused: bool
) -> None:
    priced, free = tmp_path / "priced.yaml", tmp_path / "free.yaml"
    priced.write_text(PRICED_SCRIPT)
    free.write_text(PRICED_SCRIPT.partition("\n")[2])
    name = model.format(priced=priced, free=free)
    opener = model_opener(KEYS, prices)
    await opened(opener, turn(name))

    complaint = f"the price of '{name}' is not known.* SUREFOOT_PRICES"
    with pytest.raises(ModelRefusedError, match=complaint) if refused else nullcontext():
        await opened(opener, turn(name, cost_limited=True))


async def test_a_providers_reply_says_what_it_cost_and_how_much_fits_the_model() -> None:
    with ModelServer(Reply(text="Done.")) as server:
        opener = model_opener(ProviderSettings(openai_api_key="key", openai_base_url=server.openai_url))
        model = await opened(opener, turn("openai-chat:gpt-4o", cost_limited=True))
        result = await model.reply((SystemMessage(text="s"), UserMessage(text="u")), closing=False)

    assert result.usage.cost == ModelPrices("openai-chat:gpt-4o").known(result.usage).cost
    assert result.usage.cost
    assert result.context_window == 128_000


@pytest.mark.parametrize(("setting", "streams"), [(None, True), ("true", True), ("false", False)])
async def test_a_worker_asks_for_replies_in_pieces_unless_it_is_told_not_to(
    setting: str | None, streams: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(Reply(text="Done.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        if setting is not None:
            monkeypatch.setenv("SUREFOOT_MODEL_STREAMING", setting)
        model = await opened(own_models(load_settings()), turn("openai-chat:m"))
        await model.reply((SystemMessage(text="s"), UserMessage(text="u")), closing=False)

    assert server.requests[0].body["stream"] is streams
