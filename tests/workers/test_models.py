import asyncio
import threading
from pathlib import Path

import pytest

from activities.interface import LlmTurnInput
from activities.model import Model, ModelRefusedError
from activities.providers.settings import ProviderSettings
from activities.scripted.model import ScriptedModel
from surefoot.conversation import Prefix
from workers.models import model_opener, provider_settings

KEYS = ProviderSettings(openai_api_key="no-key", openai_base_url="http://127.0.0.1:9")


def turn(model: str) -> LlmTurnInput:
    nothing = Prefix()
    return LlmTurnInput(
        turn=1, model=model, protocol="native", prefix=nothing, new_messages=(), conversation=nothing
    )


def test_an_empty_variable_counts_as_unset() -> None:
    environment = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "http://127.0.0.1:9", "OTHER": "x"}

    assert provider_settings(environment) == ProviderSettings(openai_base_url="http://127.0.0.1:9")


def test_a_script_is_read_for_every_turn_so_that_it_can_be_mended(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("steps:\n  - say: One.\n")
    opener = model_opener(KEYS)

    first = opener(turn(f"scripted:{script}"), 1)
    script.write_text("steps:\n  - say: Two.\n")
    second = opener(turn(f"scripted:{script}"), 2)

    assert isinstance(first, ScriptedModel)
    assert isinstance(second, ScriptedModel)
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.script != second.script


async def test_a_providers_model_is_opened_once_for_all_turns() -> None:
    opener, threads = model_opener(KEYS), set[int]()

    def open_model() -> Model:
        threads.add(threading.get_ident())
        return opener(turn("openai-chat:gpt-5-mini"), 1)

    first = await asyncio.to_thread(open_model)
    others = await asyncio.gather(*(asyncio.to_thread(open_model) for _ in range(3)))

    assert threading.get_ident() not in threads
    assert all(other is first for other in others)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("gpt-5-mini", "'gpt-5-mini' is no model: a model is scripted:FILE", id="no provider"),
        pytest.param("scripted:/no/such.yaml", "/no/such.yaml", id="no such script"),
        pytest.param("nobody:gpt", "nobody", id="a provider that nobody knows"),
    ],
)
def test_a_model_that_cannot_be_opened_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(ModelRefusedError) as refused:
        model_opener(KEYS)(turn(name), 1)

    assert reason in refused.value.reason
