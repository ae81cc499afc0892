"""The file that a scripted model speaks from (docs/scripted-model.md)."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from activities.document import Document, NotADocumentError, Place, read_document
from activities.model import ModelRefusedError
from activities.scripted.steps import (
    SCOPE_NAMES,
    Closing,
    Contents,
    ScriptedCall,
    ScriptedFailure,
    ScriptedOverflow,
    ScriptedReply,
    ScriptedSummary,
    ScriptedUsage,
    Step,
)
from activities.scripted.template import roots
from surefoot.price import Price
from surefoot.sizes import count
from surefoot.strict_json import encode_json

MAX_SCRIPT_BYTES = 256 * 1024

_FIELDS = sorted(
    {
        field
        for part in (
            *(Contents, Closing, ScriptedSummary, ScriptedOverflow, Price),
            *(Step, ScriptedCall, ScriptedFailure, ScriptedUsage),
        )
        for field in part.model_fields
    }
)

_PLAIN_WORDS = {
    "missing": "is missing",
    "string_type": "must be text; put a number or true, false, null in quotes",
    "tuple_type": "must be a list",
    "dict_type": "must be an object of fields",
    "model_type": "must be an object of fields",
    "model_attributes_type": "must be an object of fields",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than_equal": "must be {le:g} or less",
    "string_pattern_mismatch": "must begin with a letter, and hold only letters, digits, '_' and '-'",
}


class ScriptError(ModelRefusedError):
    """Says in one sentence why a script cannot be used: the file, the line, the field and the reason."""


@dataclass(frozen=True)
class Script:
    """A script that fits the format, and knows where its parts stand in the file."""

    file: str
    steps: tuple[Step, ...]
    closing: Closing | None
    document: Document
    price: Price | None = None
    """Dollars for a million of the tokens that the replies are said to have cost."""
    context_window: int | None = None
    summary: ScriptedSummary | None = None
    overflow: ScriptedOverflow | None = None

    def where(self, *place: str | int) -> str:
        """Name a place for people, like `demo.yaml, line 12`; `place` is e.g. `"steps", 0`."""
        return f"{self.file}, line {self.document.line(place)}"


def load_script(path: Path) -> Script:
    """Read a script from its file.

    Raises:
        ScriptError: the file cannot be read, is no YAML, or does not fit the format.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SCRIPT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ScriptError(f"the script '{path}' cannot be read: {reason}") from None
    if len(content) > MAX_SCRIPT_BYTES:
        raise ScriptError(f"the script '{path}' is larger than {count(MAX_SCRIPT_BYTES)}")
    return parse_script(content, file=str(path))


# A script is read again for every attempt at a turn; the same bytes always give the same script.
@lru_cache(maxsize=16)
def parse_script(content: bytes, *, file: str) -> Script:
    """Read a script from the bytes of its file; `file` is what errors call it.

    Raises:
        ScriptError: the bytes are no YAML in UTF-8, or do not fit the format.
    """
    try:
        document = read_document(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScriptError(f"{file}, line {line}: not UTF-8") from None
    except NotADocumentError as error:
        raise ScriptError(f"{file}, {error}") from None
    try:
        contents = Contents.model_validate_json(encode_json(document.value))
    except ValidationError as error:
        raise ScriptError(_first_problem(error, document, file)) from None
    script = Script(
        file,
        contents.steps,
        contents.closing,
        document,
        price=contents.price,
        context_window=contents.context_window,
        summary=contents.summary,
        overflow=contents.overflow,
    )
    _check_templates(script)
    return script


def _first_problem(error: ValidationError, document: Document, file: str) -> str:
    first = min(error.errors(include_url=False), key=lambda details: document.line(details["loc"]))
    place = first["loc"]
    return f"{file}, line {document.line(place)}{_field(place)}: {_reason(first)}"


def _field(place: Place) -> str:
    name = next((part for part in reversed(place) if isinstance(part, str)), None)
    is_a_whole_step = name in {"steps", "choose"} and place[-1] != name
    return "" if name is None or is_a_whole_step else f", field '{name}'"


def _reason(details: ErrorDetails) -> str:
    kind, message = details["type"], details["msg"]
    if kind == "extra_forbidden":
        return f"there is no such field here{_hint(str(details['loc'][-1]))}"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    words = _PLAIN_WORDS.get(kind)
    return words.format(**details.get("ctx", {})) if words else message[:1].lower() + message[1:]


def _hint(name: str) -> str:
    close = [field for field in get_close_matches(name, _FIELDS) if field != name]
    return f"; did you mean '{close[0]}'?" if close else ""


def _check_templates(script: Script) -> None:
    replies = list(_replies(script))
    names = {call.name for _, reply in replies for call in reply.call if call.name is not None}
    for place, reply in replies:
        known = (SCOPE_NAMES if reply.when else SCOPE_NAMES - {"matched"}) | names
        params = [call.params for call in reply.call]
        for field, value in (("say", reply.say), ("reasoning", reply.reasoning), ("call", params)):
            _check_roots(script, (*place, field), set(roots(value)) - known)
    if script.closing is not None:
        known = SCOPE_NAMES - {"matched"} | names
        _check_roots(script, ("closing", "say"), set(roots(script.closing.say)) - known)


def _check_roots(script: Script, place: Place, unknown: set[str]) -> None:
    if not unknown:
        return
    name = min(unknown)
    reason = "needs a 'when' that it is the match of" if name == "matched" else "names no call of this script"
    raise ScriptError(f"{script.where(*place)}, field '{place[-1]}': the template '{{{{{name}}}}}' {reason}")


def _replies(script: Script) -> Iterator[tuple[Place, ScriptedReply]]:
    for number, step in enumerate(script.steps):
        yield ("steps", number), step
        for choice_number, choice in enumerate(step.choose):
            yield ("steps", number, "choose", choice_number), choice
