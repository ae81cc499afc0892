import subprocess
import sys

import pytest

from activities.model import ModelRefusedError
from activities.providers.opening import ProviderModels, open_provider_model
from activities.providers.settings import ProviderSettings
from tests.activities.openai_server import ModelServer, Reply
from tests.activities.providers.asking import CHAT, PROMPT, SYSTEM, settings

NO_KEYS = ProviderSettings()


def refusal(name: str, known: ProviderSettings = NO_KEYS) -> str:
    with pytest.raises(ModelRefusedError) as raised:
        open_provider_model(name, protocol="native", settings=known)
    return raised.value.reason


@pytest.fixture(autouse=True)
def no_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param(
            "gpt-5",
            "unknown model 'gpt-5': write it as provider:name, for example openai-chat:NAME, anthropic:NAME "
            "or scripted:FILE",
            id="no provider",
        ),
        pytest.param(
            "openai-chat",
            "unknown model 'openai-chat': write it as openai-chat:NAME",
            id="no name",
        ),
        pytest.param(
            "anthropc:claude",
            "unknown model 'anthropc:claude': there is no provider 'anthropc'; did you mean 'anthropic'?",
            id="a misspelt provider",
        ),
        pytest.param(
            "openai:gpt-5",
            "model 'openai:gpt-5' needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that "
            "asks for none",
            id="no OpenAI key",
        ),
        pytest.param(
            "anthropic:claude-sonnet-5-5",
            "model 'anthropic:claude-sonnet-5-5' needs a key: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL "
            "for a server that asks for none",
            id="no Anthropic key",
        ),
        pytest.param(
            "deepseek:deepseek-chat",
            "model 'deepseek:deepseek-chat' cannot be opened: set DEEPSEEK_API_KEY",
            id="no key of another provider",
        ),
        pytest.param(
            "groq:llama",
            "model 'groq:llama' cannot be opened: the package 'groq' is not installed",
            id="a provider whose package is missing",
        ),
    ],
)
def test_a_model_that_cannot_be_opened_is_refused_in_one_sentence(name: str, reason: str) -> None:
    assert refusal(name) == reason


@pytest.mark.parametrize("name", ["", ":", "x", ":x", "openai:", "openai: ", "nobody:x", "test", "a:b:c"])
def test_a_name_that_means_nothing_is_refused(name: str) -> None:
    with pytest.raises(ModelRefusedError, match="unknown model"):
        open_provider_model(name, protocol="native", settings=ProviderSettings())


async def test_a_server_of_ones_own_needs_no_key() -> None:
    with ModelServer(Reply(text="Hi.")) as server:
        model = open_provider_model(
            CHAT, protocol="native", settings=ProviderSettings(openai_base_url=server.openai_url)
        )
        result = await model.reply((SYSTEM, PROMPT), closing=False)
        await model.close()
    assert result.reply.text == "Hi."


async def test_the_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    assert "needs a key" in refusal(CHAT)


def test_settings_do_not_show_their_keys() -> None:
    assert "secret" not in repr(ProviderSettings(openai_api_key="secret", anthropic_api_key="secret"))


async def test_a_worker_opens_each_model_once() -> None:
    with ModelServer() as server:
        models = ProviderModels(settings(server))
        opened = [models.open(CHAT, "native"), models.open(CHAT, "native"), models.open(CHAT, "prompted")]
        await models.close()
    assert [model is opened[0] for model in opened] == [True, True, False]


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        pytest.param("", set[str](), id="before a model is opened"),
        pytest.param(
            "open_provider_model('openai-chat:m', protocol='native', settings=ProviderSettings('key'))",
            {"pydantic_ai", "openai"},
            id="with a model of OpenAI's",
        ),
    ],
)
def test_no_provider_is_loaded_but_that_of_the_model(code: str, loaded: set[str]) -> None:
    told = "import sys; print(*{'pydantic_ai', 'openai', 'anthropic'} & sys.modules.keys())"
    parts = (
        "from activities.providers.opening import open_provider_model",
        "from activities.providers.settings import ProviderSettings",
        code,
        told,
    )
    shown = subprocess.run(
        [sys.executable, "-c", "\n".join(parts)], capture_output=True, text=True, check=True
    )
    assert set(shown.stdout.split()) == loaded


@pytest.mark.parametrize("url", ["nonsense", "localhost:8000/v1", "ftp://host/v1", "http:///v1"])
def test_a_base_url_that_is_none_is_refused_before_anything_starts(url: str) -> None:
    with pytest.raises(ModelRefusedError) as refused:
        open_provider_model(
            "openai-chat:m", protocol="native", settings=ProviderSettings(openai_base_url=url)
        )

    assert str(refused.value) == (
        f"OPENAI_BASE_URL is {url!r}, and must begin with http:// or https:// and a host"
    )
