from typing import Any

import pytest

from activities.model import ModelContextOverflowError, ModelRefusedError, ModelUnavailableError
from tests.activities.openai_server import ModelServer, Raw, Stream
from tests.activities.providers.asking import ANTHROPIC, CHAT, EVERY_PROTOCOL, STREAMED, Whole, ask
from tests.activities.providers.wire import Reply, message, message_events


def error(status: int, told: str, **more: object) -> Raw:
    body: dict[str, Any] = {"error": {"message": told, "type": "invalid_request_error", **more}}
    return Raw(status, body)


OPENAI = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."


@pytest.mark.parametrize(
    ("answer", "window_tokens", "tokens"),
    [
        pytest.param(error(400, OPENAI, code="context_length_exceeded"), 8192, 9001, id="OpenAI"),
        pytest.param(error(400, "long", code="context_length_exceeded"), None, None, id="a code alone"),
        pytest.param(
            error(400, "Your input exceeds the context window of this model."),
            None,
            None,
            id="OpenAI, tersely",
        ),
        pytest.param(
            error(
                400,
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
                "(4500 in the messages, 500 in the completion).",
            ),
            4096,
            5000,
            id="vLLM",
        ),
        pytest.param(
            error(400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
            8192,
            9000,
            id="vLLM's engine",
        ),
        pytest.param(
            error(
                400,
                "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
                n_ctx=4096,
                n_prompt_tokens=5000,
            ),
            4096,
            5000,
            id="llama.cpp",
        ),
        pytest.param(
            error(500, "the request exceeds the available context size.", n_ctx=2048),
            2048,
            None,
            id="llama.cpp, 500",
        ),
        pytest.param(error(400, "the input length exceeds the context length"), None, None, id="Ollama"),
        pytest.param(
            error(400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
            4096,
            5000,
            id="SGLang",
        ),
        pytest.param(
            error(422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens"),
            4096,
            5000,
            id="TGI",
        ),
        pytest.param(
            error(400, "The number of tokens to keep from the prompt is greater than the context length."),
            None,
            None,
            id="LM Studio",
        ),
        pytest.param(error(400, "Range of input length should be [1, 129024]"), 129024, None, id="Qwen"),
        pytest.param(
            error(
                400, "This model's maximum prompt length is 131072 but the request contains 150000 tokens."
            ),
            131072,
            150000,
            id="xAI",
        ),
        pytest.param(
            error(
                429,
                "Request too large for gpt-x in organization o on tokens per min (TPM): Limit 30000, "
                "Requested 41234.",
            ),
            30000,
            41234,
            id="more than a minute's tokens at once",
        ),
    ],
)
async def test_a_chat_server_that_finds_a_conversation_too_long_is_understood(
    answer: Raw, window_tokens: int | None, tokens: int | None
) -> None:
    with ModelServer(answer) as server, pytest.raises(ModelContextOverflowError) as raised:
        await ask(server, model=CHAT)
    told = raised.value
    assert (told.window_tokens, told.tokens) == (window_tokens, tokens)
    assert "cannot fit the conversation into the context window of 'test-model'" in str(told)


@pytest.mark.parametrize("model", [ANTHROPIC, STREAMED])
@pytest.mark.parametrize(
    ("told", "window_tokens", "tokens"),
    [
        pytest.param("prompt is too long: 209123 tokens > 200000 maximum", 200000, 209123, id="the prompt"),
        pytest.param(
            "input length and `max_tokens` exceed context limit: 197000 + 8192 > 200000, decrease the input",
            200000,
            None,
            id="the prompt and the reply",
        ),
    ],
)
async def test_anthropic_tells_how_much_too_long_a_conversation_is(
    told: str, window_tokens: int, tokens: int | None, model: str
) -> None:
    with ModelServer(error(400, told)) as server, pytest.raises(ModelContextOverflowError) as raised:
        await ask(server, model=model)
    assert (raised.value.window_tokens, raised.value.tokens) == (window_tokens, tokens)


@pytest.mark.parametrize("model", EVERY_PROTOCOL)
async def test_a_request_that_is_too_large_is_too_long(model: str) -> None:
    with ModelServer(Raw(413, b"<html>Request Entity Too Large</html>")) as server:
        with pytest.raises(ModelContextOverflowError):
            await ask(server, model=model)
        assert len(server.requests) == 1


@pytest.mark.parametrize("model", [ANTHROPIC, Whole(ANTHROPIC)])
async def test_a_reply_that_fills_the_window_is_an_overflow(model: str) -> None:
    body = {**message(Reply(text="and so"), 1), "stop_reason": "model_context_window_exceeded"}
    overflow = pytest.raises(ModelContextOverflowError, match="ran out of the context window")
    answer = Raw(body=body) if isinstance(model, Whole) else Stream(message_events(body))
    with ModelServer(answer) as server, overflow:
        await ask(server, model=model)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(error(400, "no"), ModelRefusedError, id="another refusal"),
        pytest.param(
            error(400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
            ModelRefusedError,
            id="too long a reply was asked for",
        ),
        pytest.param(
            error(400, "Invalid 'tools': array too long. Expected an array with maximum length 128"),
            ModelRefusedError,
            id="too many tools",
        ),
        pytest.param(
            error(
                429,
                "Rate limit reached for gpt-x: Limit 10000, Used 9000, Requested 2000.",
            ),
            ModelUnavailableError,
            id="a rate that time heals",
        ),
        pytest.param(
            error(401, "the context length of the key is exceeded"), ModelRefusedError, id="a bad key"
        ),
    ],
)
async def test_what_is_no_overflow_is_not_taken_for_one(answer: Raw, kind: type[Exception]) -> None:
    with ModelServer(answer) as server, pytest.raises(kind) as raised:
        await ask(server)
    assert not isinstance(raised.value, ModelContextOverflowError)
