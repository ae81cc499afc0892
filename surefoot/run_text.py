"""The texts that a run is started with, bounded so that every server and worker can carry them."""

from typing import Annotated

from pydantic import AfterValidator

from surefoot.sizes import MAX_SYSTEM_BYTES, count
from surefoot.strict_json import is_unicode, json_bytes


def run_text(name: str, limit_bytes: int, *, optional: bool = False) -> AfterValidator:
    """Check a text of a run: UTF-8, within a limit as JSON, and not empty; `name` stands in the errors."""

    def check(text: str) -> str:
        if not optional and not text.strip():
            raise ValueError(f"{name} is empty")
        if not is_unicode(text):
            raise ValueError(f"{name} holds bytes that are no UTF-8")
        if (size := json_bytes(text)) > limit_bytes:
            raise ValueError(f"{name} is {size:,} bytes as JSON, above the limit of {count(limit_bytes)}")
        return text

    return AfterValidator(check)


ModelName = Annotated[str, run_text("the model's name", 8 * 1024)]
SystemText = Annotated[str, run_text("the system prompt", MAX_SYSTEM_BYTES)]
