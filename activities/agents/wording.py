"""What pydantic finds wrong with an agent's front matter, in words for its author."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from activities.document import Place
from surefoot.agent_definition import AgentDefinition, AgentLimits

_PLAIN_WORDS = {
    "missing": "is required, and missing",
    "string_type": "must be text; put a number or true, false, null in quotes",
    "string_too_short": "is empty",
    "tuple_type": "must be a list",
    "dict_type": "must be an object of fields",
    "model_type": "must be an object of fields",
    "int_type": "must be a whole number",
    "greater_than_equal": "must be at least {ge:,}",
    "less_than_equal": "must be at most {le:,}",
    "string_pattern_mismatch": "must be 1 to 64 letters, digits, '_' and '-'",
    "literal_error": "must be {expected}",
}
_FIELDS: Mapping[Place, type[BaseModel]] = {(): AgentDefinition, ("limits",): AgentLimits}


def flaws(error: ValidationError) -> Iterator[tuple[Place, str]]:
    """Give the place of everything that is wrong, and the reason."""
    for details in error.errors(include_url=False):
        yield details["loc"], _reason(details)


def known_fields(place: Place) -> tuple[str, ...]:
    """Give the names that a field may have in an object of the front matter."""
    model = _FIELDS.get(place)
    return () if model is None else tuple(field.alias or name for name, field in model.model_fields.items())


def _reason(details: ErrorDetails) -> str:
    kind, message, place = details["type"], details["msg"], details["loc"]
    if kind == "extra_forbidden":
        return f"is no field of an agent file{_hint(place)}"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    words = _PLAIN_WORDS.get(kind)
    return words.format(**details.get("ctx", {})) if words else message[:1].lower() + message[1:]


def _hint(place: Place) -> str:
    name, known = str(place[-1]), known_fields(place[:-1])
    # A name in snake case, or all in small letters, is nearer to its own than to any other.
    folded = {field.lower(): field for field in known}
    close = get_close_matches(name.replace("_", "").replace("-", "").lower(), folded, n=1)
    return f"; did you mean '{folded[close[0]]}'?" if close else f"; they are {', '.join(known)}"
