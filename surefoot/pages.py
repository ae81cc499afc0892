"""Pages of models that stay below what a query may answer."""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel

from surefoot.sizes import MAX_QUERY_PAGE_BYTES

_Model = TypeVar("_Model", bound=BaseModel)


def page_of(models: Iterable[_Model], limit_bytes: int = MAX_QUERY_PAGE_BYTES) -> tuple[_Model, ...]:
    """Take as many models from the front as fit the limit as JSON, and always the first."""
    page: list[_Model] = []
    size = 0
    for model in models:
        size += len(model.model_dump_json().encode("utf-8"))
        if page and size > limit_bytes:
            break
        page.append(model)
    return tuple(page)
