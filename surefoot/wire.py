"""What crosses a process: frozen models that only ever grow."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """A frozen model whose unknown fields are ignored, so that an older reader survives a newer writer."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class CamelModel(WireModel):
    """A wire model whose fields are in camel case outside, as MCP's are."""

    model_config = ConfigDict(alias_generator=to_camel, serialize_by_alias=True)


def is_empty(value: object) -> bool:
    """Say of a field whether it is left out for holding nothing, as `is_none` does."""
    return not value


def is_none(value: object) -> bool:
    """Say of a field whether it is left out, so that what was written before there was one stays as it is."""
    return value is None
