import pytest

from tests.console.command import Surefoot

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        pytest.param(
            "gpt",
            "'gpt' is no model: a model is scripted:FILE or PROVIDER:NAME, such as openai-chat:gpt-5-mini",
            id="no provider",
        ),
        pytest.param(
            "scripted:nowhere.yaml",
            "the script 'DIR/nowhere.yaml' cannot be read: No such file or directory",
            id="no such script",
        ),
        pytest.param(
            "scripted:typo.yaml",
            "DIR/typo.yaml, line 3, field 'wehn': there is no such field here; did you mean 'when'?",
            id="an unknown field of a script",
        ),
    ],
)
def test_a_model_that_cannot_be_is_one_sentence(usable: Surefoot, model: str, sentence: str) -> None:
    (usable.directory / "typo.yaml").write_text("steps:\n  - say: Done.\n    wehn: {tool: bash}\n")

    assert usable.refuses("run", "Go on.", "--model", model) == sentence


def test_no_model_at_all_is_one_sentence(usable: Surefoot) -> None:
    sentence = "no model is named: pass --model NAME, or set SUREFOOT_MODEL"

    assert usable.refuses("run", "Go on.") == sentence


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        pytest.param(
            "opnai-chat:gpt",
            "unknown model 'opnai-chat:gpt': there is no provider 'opnai-chat'; "
            "did you mean 'openai-chat' or 'openai'?",
            id="an unknown provider",
        ),
        pytest.param(
            "openai-chat:gpt",
            "model 'openai-chat:gpt' needs a key: set OPENAI_API_KEY, "
            "or OPENAI_BASE_URL for a server that asks for none",
            id="no key for OpenAI",
        ),
        pytest.param(
            "anthropic:claude",
            "model 'anthropic:claude' needs a key: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server "
            "that asks for none",
            id="no key for Anthropic",
        ),
    ],
)
def test_a_provider_that_cannot_be_asked_is_one_sentence(
    surefoot: Surefoot, model: str, sentence: str
) -> None:
    ended = surefoot("run", "Go on.", "--model", model)

    assert (ended.exit_code, ended.stdout, ended.stderr) == (2, "", f"surefoot: {sentence}\n")
