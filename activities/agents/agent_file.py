"""Agent files: `NAME.md`, front matter in YAML and below it the system prompt (docs/agents.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from activities.agents.definition import definition_of
from activities.agents.front_matter import NotApartError, Parts, take_apart
from activities.agents.mistake import Mistake
from activities.agents.reading import read_text
from activities.agents.wording import flaws
from activities.document import Document, NotADocumentError, scan_document
from activities.tools.problem import Problem
from surefoot.agent_definition import AgentDefinition
from surefoot.limits import Limits
from surefoot.run_text import SystemText
from surefoot.sizes import count

_SCRIPTED = "scripted:"
_MAX_FILE_BYTES = 512 * 1024
# The reader of YAML takes a second for as much.
_MAX_FRONT_MATTER_CHARACTERS = 64 * 1024
_MAX_PROBLEMS = 100
_SYSTEM = TypeAdapter[str](SystemText)


@dataclass(frozen=True)
class AgentFile:
    """An agent that fits the format, and knows where its fields stand in the file."""

    path: Path
    """As it was given."""
    definition: AgentDefinition
    system: str
    document: Document = field(repr=False, compare=False)

    @property
    def directory(self) -> Path:
        """Where paths in the file begin."""
        return self.path.absolute().parent

    @property
    def limits(self) -> Limits:
        """What each of its runs may spend."""
        return self.definition.limits.of_a_run()

    @property
    def model(self) -> str | None:
        """The model's name; where it is that of a script, one that means the same in every directory."""
        model = self.definition.model
        if model is None or not model.startswith(_SCRIPTED):
            return model
        return _SCRIPTED + str(self.directory / model.removeprefix(_SCRIPTED))

    def problem(self, reason: str, *place: str | int, warning: bool = False) -> Problem:
        """Say what is wrong at a place of the front matter, such as `"tools", 0`."""
        return Mistake(self.document.line(place), reason, place).problem(self.path, warning=warning)


def read_agent(path: Path) -> AgentFile | tuple[Problem, ...]:
    """Read an agent file, or everything that is wrong with it, in the order of its lines; never raises.

    Whether its tools can be loaded is not looked at.
    """
    text = read_text(path, limit_bytes=_MAX_FILE_BYTES, of="an agent file")
    if isinstance(text, Problem):
        return (text,)
    try:
        parts = take_apart(text)
    except NotApartError as error:
        return (Mistake(error.line, error.reason).problem(path),)
    document = _document(parts)
    if isinstance(document, Mistake):
        return _problems(path, [document, *_mistakes_of_the_body(parts)])
    definition = definition_of(document, path)
    wrong = [*_mistakes_of_the_body(parts), *([] if isinstance(definition, AgentDefinition) else definition)]
    if wrong or not isinstance(definition, AgentDefinition):
        return _problems(path, wrong)
    return AgentFile(path, definition, parts.body, document)


def _document(parts: Parts) -> Document | Mistake:
    if all(not line or line.startswith("#") for line in map(str.strip, parts.front_matter.split("\n"))):
        return Mistake(1, "the front matter is empty; an agent has a description at least")
    if len(parts.front_matter) > _MAX_FRONT_MATTER_CHARACTERS:
        return Mistake(1, f"the front matter is larger than {count(_MAX_FRONT_MATTER_CHARACTERS)}")
    try:
        return scan_document(parts.front_matter)
    except NotADocumentError as error:
        return Mistake(error.line, error.reason, error.place)


def _mistakes_of_the_body(parts: Parts) -> Iterator[Mistake]:
    if not parts.body:
        yield Mistake(parts.body_line, "the system prompt is missing: it is the text below the front matter")
        return
    try:
        _SYSTEM.validate_python(parts.body)
    except ValidationError as error:
        for _, reason in flaws(error):
            yield Mistake(parts.body_line, reason)


def _problems(path: Path, mistakes: Sequence[Mistake]) -> tuple[Problem, ...]:
    ordered = sorted(mistakes, key=lambda each: each.line)
    told = [mistake.problem(path) for mistake in ordered[:_MAX_PROBLEMS]]
    if more := len(ordered) - len(told):
        told.append(Problem(path, f"and {more:,} mistakes more"))
    return tuple(told)
