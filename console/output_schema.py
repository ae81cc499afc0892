"""`--output-schema`: what the final answer must fit, read from a file and checked before anything starts."""

from pathlib import Path

from console.errors import CommandError
from console.given_text import file_text
from surefoot.json_schema import JsonSchema
from surefoot.output_schema import output_schema_problem, prompted_problem
from surefoot.protocol import Protocol
from surefoot.sizes import MAX_OUTPUT_SCHEMA_BYTES
from surefoot.strict_json import NotStrictJsonError, json_type, strict_json

# What people write may be laid out in many lines; as JSON it has to be smaller.
_MAX_FILE_BYTES = 4 * MAX_OUTPUT_SCHEMA_BYTES


def read_output_schema(file: Path, protocol: Protocol) -> JsonSchema:
    """Give an output schema from its file.

    Raises:
        CommandError: the file cannot be read, is no JSON, or no schema that answers can be held against.
    """
    name = f"the output schema {file}"
    try:
        schema = strict_json(file_text(name, file, _MAX_FILE_BYTES))
    except NotStrictJsonError as error:
        raise CommandError(f"{name} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise CommandError(f"{name} is refused: it must be a JSON object, and is {json_type(schema)}")
    problem = output_schema_problem(schema)
    if problem is None and protocol == "prompted":
        problem = prompted_problem(schema)
    if problem is not None:
        raise CommandError(f"{name} is refused: {problem}")
    return schema
