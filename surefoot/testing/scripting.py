"""What a model is to say in a test, written in Python or in a script's file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from activities.scripted.script import Script, load_script, parse_script
from surefoot.strict_json import encode_json


@dataclass(frozen=True)
class Call:
    """One tool call that the model asks for; later steps can name its outcome by `name` in templates."""

    tool: str
    params: JsonValue
    name: str | None = None

    def written(self) -> JsonValue:
        """Give the call as a script's file has it."""
        return {self.tool: self.params} | ({} if self.name is None else {"as": self.name})


# Unlike pydantic's JsonValue it takes containers of one kind of value, as a test writes them.
Field = None | bool | int | float | str | Sequence["Field"] | Mapping[str, "Field"]

Step = str | Call | Sequence[Call] | Mapping[str, Field]
"""One turn: a text that is said, a call, calls side by side, or the fields of a step in a script's file."""


def call(tool: str, /, **params: JsonValue) -> Call:
    """Give a call of this tool with these params; `Call(tool, params)` takes what is no such object."""
    return Call(tool, params)


def script(*steps: Step, **beside: Field) -> Script:
    """Give a model that takes these steps, a turn each; docs/scripted-model.md says what a step can hold.

    The rest stands beside the steps in a script's file. A text is what is said there: in its last turn when a
    limit is reached (`closing`), of older turns when they are summarised (`summary`).

    Raises:
        ScriptError: a step does not fit the format.
    """
    written = {name: {"say": value} if isinstance(value, str) else value for name, value in beside.items()}
    contents = {"steps": [_written(step) for step in steps], **written}
    return parse_script(encode_json(cast(JsonValue, contents)).encode(), file="script")


def script_file(file: Path) -> Script:
    """Give a model that speaks from a file, as `scripted:FILE` does.

    Raises:
        ScriptError: the file cannot be read, is no YAML, or does not fit the format.
    """
    return load_script(file)


def _written(step: Step) -> JsonValue:
    match step:
        case str():
            return {"say": step}
        case Call():
            return {"call": [step.written()]}
        case Mapping():
            return cast(JsonValue, dict(step))
        case _:
            return {"call": [one.written() for one in step]}
