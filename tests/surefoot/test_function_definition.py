import enum
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

import pytest
from pydantic import BaseModel, Field

from surefoot import ToolResult, tool
from surefoot.function_definition import Described, FunctionTool, describe
from surefoot.function_tool import decorated
from surefoot.strict_json import encode_json


def described(function: Callable[..., Any]) -> Described:
    recorded = decorated(function)
    assert recorded is not None
    return describe(recorded)


def told(function: Callable[..., Any]) -> FunctionTool:
    found = described(function)
    assert found.tool is not None, found.flaws
    return found.tool


class Place(BaseModel):
    latitude: float
    longitude: float = 0.0


class Found(TypedDict):
    keyword: str
    results: list[Place]
    nearest: Place
    total: int
    more: NotRequired[dict[str, int]]


class Node(BaseModel):
    children: list["Node"] = []


class Colour(enum.StrEnum):
    RED = "red"


@tool(read_only=True, timeout_seconds=5, limits={"stderr": 512})
async def search_places(
    keyword: str,
    near: Place | None = None,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    kind: Literal["station", "shrine"] = "station",
) -> Found:
    """Find places by their name.

    Prefer it to guessing
    coordinates.

    Args:
        keyword: What to look for,
            in any language.
        limit (int): How many.

    Returns:
        What was found.
    """
    raise NotImplementedError


def test_a_signature_and_a_docstring_are_a_definition() -> None:
    place = {
        "type": "object",
        "properties": {
            "latitude": {"type": "number"},
            "longitude": {"type": "number", "default": 0.0},
        },
        "required": ["latitude"],
    }
    definition = told(search_places).definition
    assert (definition.name, definition.description, definition.usage) == (
        "search_places",
        "Find places by their name.",
        "Prefer it to guessing\ncoordinates.",
    )
    assert definition.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "keyword": {"type": "string", "description": "What to look for, in any language."},
            "near": {"anyOf": [place, {"type": "null"}], "default": None},
            "limit": {
                "type": "integer",
                "description": "How many.",
                "minimum": 1,
                "maximum": 50,
                "default": 10,
            },
            "kind": {"type": "string", "enum": ["station", "shrine"], "default": "station"},
        },
        "required": ["keyword"],
    }
    assert (
        definition.annotations.read_only_hint,
        definition.timeout_seconds,
        definition.limits.stderr,
        definition.limits.stdout,
    ) == (True, 5, 512, 10_240)


def test_the_answers_schema_holds_for_failures_too() -> None:
    found = told(search_places)
    schema = found.definition.output_schema
    assert schema is not None
    assert schema["required"] == ["success", "error", "keyword", "results", "nearest", "total"]
    assert schema["description"] == "What was found."
    assert found.form.empty == {"keyword": "", "results": [], "nearest": None, "total": None, "more": {}}
    assert all(found.form.fits(name, value) or value is None for name, value in found.form.empty.items())


def test_a_function_stays_what_it_is_for_its_own_callers() -> None:
    @tool
    def double(number: int) -> int:
        """Double."""
        return 2 * number

    assert double(4) == 8


def own_schema(function: Callable[..., Any]) -> dict[str, Any]:
    schema: Any = told(function).definition.output_schema
    return {
        name: one
        for name, one in schema["properties"].items()
        if name not in ("success", "error", "error_code")
    }


def returning(hint: Any) -> Callable[..., Any]:  # noqa: ANN401  any type hint
    def function() -> None:
        """Do."""

    function.__annotations__["return"] = hint
    return tool(function)


@dataclass
class Pair:
    first: str
    second: bytes | None = None


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        pytest.param(None, {}, id="nothing"),
        pytest.param(dict[str, Any], {}, id="some dict"),
        pytest.param(ToolResult, {}, id="a result of anything"),
        pytest.param(Any, {}, id="anything"),
        pytest.param(list[str], {"result": {"type": "array", "items": {"type": "string"}}}, id="a list"),
        pytest.param(
            Pair,
            {
                "first": {"type": "string"},
                "second": {
                    "anyOf": [{"type": "string", "format": "binary"}, {"type": "null"}],
                    "default": None,
                },
            },
            id="a dataclass",
        ),
        pytest.param(
            ToolResult[Place],
            {
                "latitude": {"type": ["number", "null"]},
                "longitude": {"type": ["number", "null"], "default": 0.0},
            },
            id="a result of a model",
        ),
        pytest.param(Place | None, {}, id="a model or nothing"),
        pytest.param(
            Colour,
            {"result": {"anyOf": [{"type": "string", "enum": ["red"]}, {"type": "null"}]}},
            id="an enumeration",
        ),
    ],
)
def test_own_fields_are_what_the_return_type_says(hint: object, schema: dict[str, Any]) -> None:
    assert own_schema(returning(hint)) == schema


def test_what_refers_to_itself_keeps_its_references() -> None:
    @tool
    def grow(tree: Node) -> Node:
        """Grow."""
        return tree

    definition = told(grow).definition
    assert definition.output_schema is not None
    assert '"#/$defs/Node"' in encode_json(definition.input_schema)
    assert '"#/$defs/Node"' in encode_json(definition.output_schema)


def test_arguments_are_of_their_annotated_types() -> None:
    given = told(search_places).parameters.arguments({"keyword": "x", "near": {"latitude": 1}})
    assert given == {"keyword": "x", "near": Place(latitude=1.0), "limit": 10, "kind": "station"}


class NotJson:
    pass


@tool(name="llm_turn", timeout_seconds=-1, limits={"stdout": 1}, approval="sometimes", isolated=True)
def wrong(a: int, /, b, *many: int, c: "Nowhere", d: NotJson, **rest: int) -> NotJson:  # type: ignore[reportUndefinedVariable] # noqa: ANN001, F821
    raise NotImplementedError


def test_everything_that_is_wrong_is_named_at_once() -> None:
    found = described(wrong)  # pyright: ignore[reportUnknownArgumentType]
    assert found.tool is None
    assert [f"{flaw.field or ''}: {flaw.reason}" for flaw in found.flaws] == [
        ": has no docstring, whose first paragraph tells the model what the tool does",
        "a: is positional-only, and a model gives parameters by their names",
        "b: has no type: annotate it",
        "many: *many cannot be a tool's parameter: name each one in the signature",
        "rest: **rest cannot be a tool's parameter: name each one in the signature",
        "c: its type cannot be read: NameError: name 'Nowhere' is not defined",
        "d: its type has no JSON Schema: 'NotJson' is not something that JSON can carry",
        "return: its answer has no JSON Schema: 'NotJson' is not something that JSON can carry",
        "name: the name 'llm_turn' is reserved",
        "timeout_seconds: Input should be greater than or equal to 0.001",
        "limits.stdout: Input should be greater than or equal to 128",
        (
            "approval: must be never, always, destructive, outside-workdir, first-use, or "
            '{"when": a JSON Schema of the params}'
        ),
    ]


def generator() -> Any:  # noqa: ANN401
    """Give one after the other."""
    yield 1


class SomeClass:
    """A class."""


def looks_around(text: Annotated[str, Field(pattern="(?=x)y")]) -> None:
    """Look around."""


def says_field(text: str = Field("x")) -> None:
    """Say."""


def documents_more(text: str) -> None:
    """Say.

    Args:
        txt: What to say.
    """


def never_ends(hours: float = inf) -> None:
    """Wait."""


def counts(city: str = "Uji", most: int = cast(Any, None), least: Annotated[int, Field(ge=1)] = 0) -> None:
    """Count."""


@pytest.mark.parametrize(
    ("function", "flaw"),
    [
        pytest.param(generator, "is a generator", id="a generator"),
        pytest.param(SomeClass, "is a class", id="a class"),
        pytest.param(lambda: None, "name: String should match pattern", id="a function without a name"),
        pytest.param(looks_around, "text: its type has no JSON Schema", id="a pattern with look-around"),
        pytest.param(says_field, "text: has Field(...) as its default", id="a field as a default"),
        pytest.param(never_ends, "hours: its default inf is no JSON number", id="a default that is no JSON"),
    ],
)
def test_what_cannot_be_a_tool_is_told_in_a_sentence(function: Callable[..., Any], flaw: str) -> None:
    found = described(tool(function))
    assert found.tool is None
    assert any(f"{one.field}: {one.reason}".removeprefix("None: ").startswith(flaw) for one in found.flaws), (
        found.flaws
    )


def test_a_parameter_that_only_the_docstring_has_is_a_warning() -> None:
    found = described(tool(documents_more))
    assert found.tool is not None
    assert [(flaw.field, flaw.warning) for flaw in found.flaws] == [("txt", True)]


def test_a_default_that_its_type_refuses_is_a_warning() -> None:
    found = described(tool(counts))
    assert found.tool is not None
    assert [(flaw.field, flaw.reason, flaw.warning) for flaw in found.flaws] == [
        ("most", 'its default does not fit its type: null is not of type "integer"', True),
        ("least", "its default does not fit its type: 0 is less than the minimum of 1", True),
    ]


def test_a_default_of_any_type_that_fits_it_is_no_flaw() -> None:
    def function(
        colour: Colour = Colour.RED,
        place: Place = Place(latitude=1),  # noqa: B008  a model's default is what is tested
        hours: timedelta = timedelta(hours=1),
        path: Path = Path(),
        pair: Pair = Pair("a"),  # noqa: B008
        words: tuple[str, ...] = ("a",),
        most: int | None = None,
    ) -> None:
        """Do."""

    assert described(tool(function)).flaws == ()
