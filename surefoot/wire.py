"""What crosses a process: frozen models that only ever grow."""

from pydantic import BaseModel, ConfigDict


class WireModel(BaseModel):
    """A frozen model whose unknown fields are ignored, so that an older reader survives a newer writer."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)
