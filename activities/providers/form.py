"""Whether a response has the form it claims: the providers' clients build it from a body unchecked."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart


class _Form(BaseModel):
    model_config = ConfigDict(from_attributes=True, strict=True)

    id: str | None = None
    provider_details: dict[str, Any] | None = None


class _Text(_Form):
    content: str


class _Reasoning(_Form):
    content: str
    signature: str | None


class _Call(_Form):
    tool_name: str
    tool_call_id: str
    args: str | dict[str, Any] | None


class _Response(_Form):
    model_name: str | None


_FORMS: dict[type, type[_Form]] = {TextPart: _Text, ThinkingPart: _Reasoning, ToolCallPart: _Call}


def well_formed(response: ModelResponse) -> ModelResponse:
    """Give the response back if all that is read of it is what its types say.

    Raises:
        ValidationError: a field of it is something else.
    """
    _Response.model_validate(response)
    for part in response.parts:
        for kind, form in _FORMS.items():
            if isinstance(part, kind):
                form.model_validate(part)
    return response
