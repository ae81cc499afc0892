import re

import pytest
from pydantic import JsonValue

from surefoot.definition import JsonSchema, ToolDefinition
from surefoot.output_schema import answer_rules
from surefoot.prompt import DEFAULT_PROMPT, FAILURE_RULES, native_description, system_prompt, tool_section

BASH = ToolDefinition.model_validate(
    {
        "name": "bash",
        "description": "Execute bash commands with output capture and error handling.",
        "usage": "When you need to execute shell commands, list files, search code, or perform\n"
        "system operations. Check exit_code to determine success/failure.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The bash command to execute"},
                "timeout": {"type": "integer", "default": 30, "description": "Command timeout in seconds"},
                "working_dir": {
                    "type": "string",
                    "default": ".",
                    "description": "Working directory for execution",
                },
            },
            "required": ["command"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "stdout": {"type": "string", "description": "Standard output from command"},
                "stderr": {"type": "string", "description": "Standard error from command"},
                "exit_code": {"type": "integer", "description": "Process exit code (0 = success)"},
                "truncated": {"type": "boolean", "description": "Whether output was truncated"},
            },
        },
    }
)

BASH_SECTION = """You have access to the following tools:

### bash
Execute bash commands with output capture and error handling.

**Parameters:**
- `command` (string, required): The bash command to execute
- `timeout` (integer, optional, default: 30): Command timeout in seconds
- `working_dir` (string, optional, default: "."): Working directory for execution

**Returns:**
- `stdout` (string): Standard output from command
- `stderr` (string): Standard error from command
- `exit_code` (integer): Process exit code (0 = success)
- `truncated` (boolean): Whether output was truncated

**Output limits:**
- stdout: 10KB max
- stderr: 4KB max
- Truncated output includes warning message

**Usage:**
When you need to execute shell commands, list files, search code, or perform
system operations. Check exit_code to determine success/failure."""


def test_a_tool_is_presented_in_the_form_of_the_protocol_to_the_letter() -> None:
    assert tool_section([BASH]) == BASH_SECTION


def test_a_provider_with_schemas_of_its_own_gets_the_rest_of_the_section() -> None:
    (head, parameters, *rest) = BASH_SECTION.split("\n\n")[1:]
    assert parameters.startswith("**Parameters:**")
    assert native_description(BASH) == "\n\n".join([head.removeprefix("### bash\n"), *rest])


def test_no_tools_are_presented_as_none() -> None:
    assert tool_section([]) == "You have no tools."


SMALL = ToolDefinition.model_validate(
    {
        "name": "now",
        "description": " Tell the time.\n\nIn UTC.\n",
        "usage": " \n",
        "inputSchema": {},
        "limits": {"stdout": 1_000, "stderr": 64 * 1_024},
    }
)

SMALL_SECTION = """### now
Tell the time.

In UTC.

**Parameters:**
- none

**Output limits:**
- stdout: 1,000 bytes max
- stderr: 64KB max
- Truncated output includes warning message"""


def test_a_tool_may_have_no_parameters_and_nothing_to_say() -> None:
    assert tool_section([SMALL]) == f"You have access to the following tools:\n\n{SMALL_SECTION}"


def test_several_tools_are_presented_one_after_the_other() -> None:
    assert tool_section([SMALL, BASH]) == (
        f"You have access to the following tools:\n\n{SMALL_SECTION}\n\n"
        + BASH_SECTION.removeprefix("You have access to the following tools:\n\n")
    )


def lines_under(heading: str, definition: ToolDefinition) -> list[str]:
    parts = [part.split("\n") for part in tool_section([definition]).split("\n\n")]
    return [line for first, *lines in parts if first == f"**{heading}:**" for line in lines]


@pytest.mark.parametrize(
    ("parameter", "lines"),
    [
        pytest.param({"type": "string"}, ["- `p` (string, optional)"], id="no description"),
        pytest.param({}, ["- `p` (any, optional)"], id="no type"),
        pytest.param(True, ["- `p` (any, optional)"], id="true"),
        pytest.param(
            {"type": "string", "description": "One\n  two.\n\nThree"},
            ["- `p` (string, optional): One two. Three"],
            id="a description of several lines",
        ),
        pytest.param(
            {"type": "string", "enum": ["a", "é"], "description": "Which one."},
            ['- `p` (string, optional): Which one. One of "a", "é"'],
            id="a choice",
        ),
        pytest.param(
            {"enum": [1, None]}, ["- `p` (any, optional): One of 1, null"], id="a choice of anything"
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}},
            ["- `p` (array of string, optional)"],
            id="an array",
        ),
        pytest.param({"type": "array"}, ["- `p` (array, optional)"], id="an array of anything"),
        pytest.param(
            {"type": "array", "items": {"type": "array", "items": {}}},
            ["- `p` (array of array of any, optional)"],
            id="an array of arrays",
        ),
        pytest.param(
            {"type": ["string", "null"]}, ["- `p` (string or null, optional)"], id="a list of types"
        ),
        pytest.param(
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            ["- `p` (integer or null, optional)"],
            id="any of",
        ),
        pytest.param(
            {"oneOf": [{"type": "integer"}, True]}, ["- `p` (integer or any, optional)"], id="one of"
        ),
        pytest.param(
            {"anyOf": [{"const": 1}, {"const": 2}]}, ["- `p` (any, optional)"], id="alternatives of one type"
        ),
        pytest.param({"type": "null", "default": None}, ["- `p` (null, optional, default: null)"], id="null"),
        pytest.param(
            {"type": "boolean", "default": False}, ["- `p` (boolean, optional, default: false)"], id="false"
        ),
        pytest.param(
            {"type": "number", "default": 1.0}, ["- `p` (number, optional, default: 1.0)"], id="1.0"
        ),
        pytest.param(
            {"type": "string", "default": 'a"b\n'},
            ['- `p` (string, optional, default: "a\\"b\\n")'],
            id="text",
        ),
        pytest.param(
            {"type": "array", "default": [], "items": {"type": "object"}},
            ["- `p` (array of object, optional, default: [])"],
            id="an empty array",
        ),
        pytest.param(
            {"type": "object", "default": {"a": 1}},
            ['- `p` (object, optional, default: {"a": 1})'],
            id="object",
        ),
        pytest.param(
            {
                "type": "object",
                "description": "Where",
                "required": ["line"],
                "properties": {
                    "line": {"type": "integer"},
                    "span": {"type": "object", "properties": {"end": {"type": "integer", "default": 0}}},
                },
            },
            [
                "- `p` (object, optional): Where",
                "  - `line` (integer, required)",
                "  - `span` (object, optional)",
                "    - `end` (integer, optional, default: 0)",
            ],
            id="objects in objects",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            ["- `p` (array of object, optional)", "  - `a` (string, optional)"],
            id="an array of objects",
        ),
    ],
)
def test_every_shape_of_parameter_is_told(parameter: JsonValue, lines: list[str]) -> None:
    definition = SMALL.model_copy(update={"input_schema": {"properties": {"p": parameter}}})
    assert lines_under("Parameters", definition) == lines


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        pytest.param(None, [], id="no schema"),
        pytest.param({}, [], id="an empty schema"),
        pytest.param({"type": "object"}, [], id="an object of anything"),
        pytest.param(
            {"properties": {"a": {"type": "string", "default": "x"}}, "required": ["a"]},
            ["- `a` (string)"],
            id="fields, without what only a caller asks",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "description": "The names"},
            ["- array of string: The names"],
            id="an array",
        ),
        pytest.param(
            {"type": "array", "items": {"properties": {"a": {"type": "null"}}}},
            ["- array of any", "  - `a` (null)"],
            id="an array of objects",
        ),
        pytest.param({"type": "string"}, ["- string"], id="text"),
        pytest.param(
            {"properties": {"hits": {"type": "array", "items": {"properties": {"a": {"type": "null"}}}}}},
            ["- `hits` (array of any)", "  - `a` (null)"],
            id="objects in an array in an object",
        ),
    ],
)
def test_every_shape_of_answer_is_told(schema: JsonSchema | None, lines: list[str]) -> None:
    assert lines_under("Returns", SMALL.model_copy(update={"output_schema": schema})) == lines


@pytest.mark.parametrize(
    ("own", "beginning"),
    [
        pytest.param(None, DEFAULT_PROMPT, id="no prompt of their own"),
        pytest.param("", DEFAULT_PROMPT, id="an empty one"),
        pytest.param(" \n", DEFAULT_PROMPT, id="a blank one"),
        pytest.param("\nYou are a pirate.\n", "You are a pirate.", id="one of their own"),
    ],
)
def test_the_rules_on_failures_always_end_the_system_prompt(own: str | None, beginning: str) -> None:
    assert system_prompt(own) == f"{beginning}\n\n{FAILURE_RULES}"


def test_the_rules_name_exactly_the_codes_that_never_took_effect() -> None:
    assert re.findall(r"\b[A-Z]+_[A-Z_]+\b", FAILURE_RULES) == sorted(
        [
            "TOOL_NOT_FOUND",
            "INVALID_PARAMS",
            "INPUT_TOO_LARGE",
            "TOOL_DENIED",
            "LIMIT_REACHED",
            "TOOL_INVOCATION_TIMEOUT",
        ]
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "What is truncated for you is kept whole",
        "`tool_success: false` means that there is no valid answer",
        "The call may have taken effect all the same, except for",
        'an error that says "could not be started"',
        "before you repeat a call, look whether it took effect",
        "Offer another way, or ask what to do",
    ],
)
def test_the_rules_say_what_a_failure_means_and_what_to_do(sentence: str) -> None:
    assert sentence in FAILURE_RULES


def test_the_system_prompt_states_what_the_answer_must_fit() -> None:
    schema: JsonSchema = {"type": "array"}
    assert system_prompt("You count.", schema) == f"You count.\n\n{FAILURE_RULES}\n\n{answer_rules(schema)}"


SET_UP = ToolDefinition.model_validate(
    {
        "name": "reviewer",
        "description": "Reviews a file.",
        "inputSchema": {},
        "agent": {
            "key": "secret",
            "system": "secret",
            "model": "secret",
            "outputSchema": {"const": "secret"},
        },
    }
)


@pytest.mark.parametrize("shown", [native_description(SET_UP), tool_section([SET_UP])])
def test_a_model_is_not_told_how_an_agent_is_set_up(shown: str) -> None:
    assert "Reviews a file." in shown
    assert "secret" not in shown
