"""The JSON Schema of what crosses to a run and back, as docs/run-input.schema.json has it.

`python -m tests.run_schema` renews the file.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from surefoot.run import (
    Approve,
    CancelToolCall,
    Deny,
    EndSession,
    EventsPage,
    Pause,
    RaiseLimit,
    Resume,
    RunInput,
    RunResult,
    SendMessage,
)
from surefoot.slices import Slice
from surefoot.wire import WireModel

FILE = Path(__file__).parents[1] / "docs" / "run-input.schema.json"

_TITLE = "The input of a run of Surefoot; $defs has its result, its events, and what its updates take"


def schema_text() -> str:
    """Give the file's text as today's code has it."""
    _, document = models_json_schema(
        [
            (RunInput, "validation"),
            (RunResult, "validation"),
            (EventsPage, "validation"),
            (SendMessage, "validation"),
            (EndSession, "validation"),
            (CancelToolCall, "validation"),
            (Pause, "validation"),
            (Resume, "validation"),
            (RaiseLimit, "validation"),
            (Approve, "validation"),
            (Deny, "validation"),
            (Slice, "validation"),
        ],
        title=_TITLE,
    )
    definitions: dict[str, dict[str, Any]] = document["$defs"]
    models = {model.__name__: model for model in _all_models(WireModel)}
    for name, definition in definitions.items():
        if name in models:
            _describe(definition, models[name])
    own = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/RunInput"}
    return json.dumps({**own, **document}, indent=2, ensure_ascii=False) + "\n"


def _all_models(of: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in of.__subclasses__():
        yield model
        yield from _all_models(model)


def _describe(definition: dict[str, Any], model: type[BaseModel]) -> None:
    said = dict(docstring for each in reversed(model.__mro__) for docstring in _field_docstrings(each))
    for name, field in model.model_fields.items():
        if name in said:
            shown = field.alias or name
            definition["properties"][shown] = {**definition["properties"][shown], "description": said[name]}


def _field_docstrings(model: type) -> Iterator[tuple[str, str]]:
    """Give each field of a class that has a text below it, and the text."""
    if not issubclass(model, WireModel):
        return
    (written,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(written, ast.ClassDef)
    for field, text in zip(written.body, written.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as said)),
            ):
                yield name, " ".join(said.split())
            case _:
                pass


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
