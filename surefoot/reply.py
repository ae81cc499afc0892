"""What an executable answered: exit code, stdout and stderr become an outcome."""

from collections.abc import Callable

from pydantic import JsonValue

from surefoot.definition import JsonSchema
from surefoot.failures import (
    Captured,
    crashed,
    invalid_json,
    output_too_large,
    schema_mismatch,
    too_many_values,
)
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.schema import problems
from surefoot.sizes import MAX_ANSWER_BYTES, MAX_ANSWER_VALUES
from surefoot.strict_json import NotStrictJsonError, json_bytes, more_values_than, strict_json
from surefoot.truncation import keep_ends


def parse_reply(
    tool: str,
    *,
    exit_code: int,
    stdout: str | bytes,
    stderr: str,
    captured: Captured | None = None,
    output_schema: JsonSchema | None = None,
) -> ToolSuccess | ToolFailure:
    """Read what an executable left behind when it ended by itself.

    `captured` is what a failure shows of the output; without it, stdout and stderr at the default limits.
    """
    if captured is None:
        text = stdout.decode("utf-8", "replace") if isinstance(stdout, bytes) else stdout
        captured = Captured(keep_ends(text, 10_240), keep_ends(stderr, 4_096))
    if exit_code != 0:
        return crashed(tool, exit_code, captured)
    try:
        answer = strict_json(stdout)
    except NotStrictJsonError:
        return invalid_json(tool, captured)
    return check_answer(tool, answer, captured=lambda: captured, output_schema=output_schema, exit_code=0)


def check_answer(
    tool: str,
    answer: JsonValue,
    *,
    captured: Callable[[], Captured],
    output_schema: JsonSchema | None,
    exit_code: int | None,
) -> ToolSuccess | ToolFailure:
    """Hold a JSON answer, whoever gave it, against the caps and the definition's outputSchema."""
    size = json_bytes(answer)
    if size > MAX_ANSWER_BYTES:
        return output_too_large(tool, captured(), size_bytes=size, exit_code=exit_code)
    if more_values_than(MAX_ANSWER_VALUES, answer):
        return too_many_values(tool, captured(), exit_code=exit_code)
    found = problems(output_schema, answer) if output_schema is not None else ()
    if found:
        return schema_mismatch(tool, found, captured(), exit_code=exit_code)
    return ToolSuccess(tool=tool, result=answer)
