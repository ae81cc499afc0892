"""What a script's `when` asks of the outcomes of the last calls."""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from surefoot.outcome import ERROR_CODES, ToolFailure, ToolSuccess

OUTCOME_FIELDS = frozenset({"tool", *ToolSuccess.model_fields, *ToolFailure.model_fields})

OutcomeView = Mapping[str, JsonValue]
"""The envelope that the model sees, with the name of the tool in any case."""

Pattern = dict[str, JsonValue]


def pattern_problem(pattern: Pattern) -> str | None:
    """Say what is wrong with a pattern for one outcome; None if it can be met."""
    if not pattern:
        return "an empty condition; leave 'when' out of a step that is always given"
    if is_test(pattern):
        return None
    unknown = sorted(pattern.keys() - OUTCOME_FIELDS)
    if unknown:
        return f"an outcome has no field '{unknown[0]}'; its fields are {', '.join(sorted(OUTCOME_FIELDS))}"
    code = pattern.get("error_code")
    if isinstance(code, str) and code not in ERROR_CODES:
        return f"there is no error_code '{code}'; there are {', '.join(sorted(ERROR_CODES))}"
    return None


def first_match(patterns: Sequence[Pattern], outcomes: Sequence[OutcomeView]) -> OutcomeView | None:
    """Give the outcome that meets the first pattern; None unless each pattern is met by some outcome."""
    found = [next((one for one in outcomes if matches(pattern, dict(one))), None) for pattern in patterns]
    return found[0] if found and None not in found else None


def matches(pattern: JsonValue, value: JsonValue) -> bool:
    """Tell whether a value is what the pattern says.

    `{contains: x}` is met by a text or a list that holds x, `{not: x}` by a value that does not match x, any
    other object by an object whose fields of the same names match (a field that is not there never does), and
    everything else by an equal value.
    """
    match pattern:
        case {"contains": wanted} if is_test(pattern):
            return _contains(value, wanted)
        case {"not": unwanted} if is_test(pattern):
            return not matches(unwanted, value)
        case dict():
            return isinstance(value, dict) and all(
                name in value and matches(wanted, value[name]) for name, wanted in pattern.items()
            )
        case _:
            # Python takes True for 1; JSON does not.
            return pattern == value and isinstance(pattern, bool) == isinstance(value, bool)


def is_test(pattern: JsonValue) -> bool:
    """Tell whether a pattern is `{contains: …}` or `{not: …}`."""
    return (
        isinstance(pattern, dict) and len(pattern) == 1 and not pattern.keys().isdisjoint({"contains", "not"})
    )


def _contains(value: JsonValue, wanted: JsonValue) -> bool:
    match value:
        case str():
            return isinstance(wanted, str) and wanted in value
        case list():
            return any(matches(wanted, cast(JsonValue, item)) for item in value)
        case _:
            return False
