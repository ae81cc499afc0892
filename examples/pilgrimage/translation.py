"""Translation by the model that is set up: PILGRIMAGE_MODEL, else SUREFOOT_MODEL, by pydantic-ai's names."""

import asyncio
import os
from importlib import import_module
from typing import Annotated, TypedDict

from pydantic import Field

from surefoot import ToolError, tool

SECONDS = 25
"""A provider's client tries again by itself; after this it is too late."""


class Translation(TypedDict):
    """A translated text."""

    text: str
    target_language: str
    translated: str


@tool(read_only=True, open_world=True, timeout_seconds=SECONDS + 5)
async def translate_tool(
    text: Annotated[str, Field(max_length=4000)], target_language: str, context: str = "title of an anime"
) -> Translation:
    """Translate a text, such as the title of a work or the name of a place.

    Args:
        text: What to translate.
        target_language: A language, or its code: English, zh-CN, ja.
        context: What kind of text it is.
    """
    if not text.strip():
        raise ToolError("there is nothing to translate", "invalid_input")
    name = os.environ.get("PILGRIMAGE_MODEL") or os.environ.get("SUREFOOT_MODEL", "")
    if not name or name.startswith("scripted:"):
        said = "no model is set up for translations: PILGRIMAGE_MODEL or SUREFOOT_MODEL names one"
        raise ToolError(said, "internal_error")
    asked = f"Translate this {context} to {target_language}. Answer with the translation alone.\n\n{text}"
    try:
        async with asyncio.timeout(SECONDS):
            translated = await _ask(name, asked)
    except TimeoutError:
        raise ToolError(f"{name} did not answer within {SECONDS} s", "timeout") from None
    if not translated:
        raise ToolError(f"{name} answered nothing", "external_service_error")
    return {"text": text, "target_language": target_language, "translated": translated}


async def _ask(name: str, text: str) -> str:
    # Beside the event loop: pydantic-ai and the client of a provider take seconds to import.
    await asyncio.to_thread(import_module, "pydantic_ai.direct")
    from pydantic_ai.direct import model_request
    from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import infer_model

    try:
        model = await asyncio.to_thread(infer_model, name)
        answered = await model_request(model, [ModelRequest.user_text_prompt(text)])
    except UserError as error:
        raise ToolError(f"no translations by {name}: {error}", "internal_error") from error
    except ModelHTTPError as error:
        if error.status_code == 429:
            said = f"{name} is asked too often"
            raise ToolError(said, "rate_limited", retry_after_seconds=error.retry_after) from error
        raise ToolError(f"{name} answered {error.status_code}", "external_service_error") from error
    except AgentRunError as error:
        said = str(error).partition("\n")[0]
        raise ToolError(f"{name} did not translate it: {said}", "external_service_error") from error
    return (answered.text or "").strip()
