"""Takes secrets out of what a tool says, before anybody else reads it."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pydantic import JsonValue

from activities.interface import Capture
from activities.tools.secrets.spellings import spellings
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import encode_json

_CUT = re.compile(
    r"\n\.\.\. \[[\d,]+ more bytes\] \.\.\.\n\n\[OUTPUT TRUNCATED[^\]\n]*\]\n?"
    r"|\n\[ARTIFACT TRUNCATED[^\]\n]*\]"
)
"""What stands where text was left out, and with it, maybe, a part of a secret."""

_LEAST_PART = 4
"""Fewer characters at a cut tell nobody a secret."""


class Scrubber:
    """Knows secrets in every form that is looked for, and puts `[secret NAME]` in their places."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        forms = [(form, _mark(name)) for name, value in secrets.items() for form in spellings(value)]
        self._forms = sorted(forms, key=lambda form: (-len(form[0]), form))
        # As a text of JSON has them: a form that was escaped once is escaped again there.
        self._in_json = tuple(
            {form: None for one, _ in self._forms for form in (one, encode_json(one)[1:-1])}
        )
        self._bytes = [(form.encode(), mark.encode()) for form, mark in self._forms]

    @staticmethod
    def of(secrets: Mapping[str, str]) -> "Scrubber":
        """Give the scrubber of these secrets by name; the same for the same ones."""
        return _scrubber(tuple(sorted(secrets.items()))) if secrets else NOTHING_TO_HIDE

    def __bool__(self) -> bool:
        """Whether there is anything to hide."""
        return bool(self._forms)

    def text(self, text: str, *, more_follows: bool = False) -> str:
        """Give a text without secrets, nor parts of them where it was cut; at its end if `more_follows`."""
        for form, mark in self._forms:
            if form in text:
                text = text.replace(form, mark)
        if not self._forms or (not more_follows and "TRUNCATED" not in text):
            return text
        return self._without_parts(text, more_follows=more_follows)

    def data(self, data: bytes) -> bytes:
        """Give a file's content without secrets."""
        for form, mark in self._bytes:
            if form in data:
                data = data.replace(form, mark)
        return data

    def value(self, value: JsonValue) -> JsonValue:
        """Give a JSON value without secrets in its texts, keys and numbers."""
        # Most values hold none, and are told so in a hundredth of the time.
        written = encode_json(value) if self._forms else ""
        held = "TRUNCATED" in written or any(form in written for form in self._in_json)
        return self._value(value) if held else value

    def outcome(self, outcome: ToolSuccess | ToolFailure) -> ToolSuccess | ToolFailure:
        """Give an outcome without secrets."""
        if not self._forms:
            return outcome
        match outcome:
            case ToolSuccess(result=result):
                return outcome.model_copy(update={"result": self.value(result)})
            case ToolFailure(error=error, stdout=stdout, stderr=stderr):
                # A sentence that was too long ends with an ellipsis.
                whole = error.removesuffix("…")
                sentence = self.text(whole, more_follows=whole != error) + error[len(whole) :]
                said = {"error": sentence, "stdout": self.text(stdout), "stderr": self.text(stderr)}
                return outcome.model_copy(update=said)

    def capture(self, capture: Capture) -> Capture:
        """Give what a tool has said so far; a secret of which only a part has come is hidden, too."""
        if not self._forms:
            return capture
        said = {name: self.text(getattr(capture, name), more_follows=True) for name in ("stdout", "stderr")}
        return capture.model_copy(update=said)

    def _value(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(name): self._value(each) for name, each in value.items()}
            case list():
                return [self._value(each) for each in value]
            case int() | float() if not isinstance(value, bool):
                written = encode_json(value)
                hidden = self.text(written)
                return value if hidden == written else hidden
            case _:
                return value

    def _without_parts(self, text: str, *, more_follows: bool) -> str:
        pieces: list[str] = []
        at, after_cut = 0, False
        for cut in _CUT.finditer(text):
            pieces += [self._piece(text[at : cut.start()], begins=after_cut, ends=True), cut[0]]
            at, after_cut = cut.end(), True
        return "".join([*pieces, self._piece(text[at:], begins=after_cut, ends=more_follows)])

    def _piece(self, piece: str, *, begins: bool, ends: bool) -> str:
        if ends:
            part, mark = max(self._parts(piece, at_end=True), default=(0, ""))
            piece = piece[: len(piece) - part] + mark
        if begins:
            part, mark = max(self._parts(piece, at_end=False), default=(0, ""))
            piece = mark + piece[part:]
        return piece

    def _parts(self, piece: str, *, at_end: bool) -> Iterator[tuple[int, str]]:
        """Tell of each form how much of it the piece ends, or begins, with."""
        for form, mark in self._forms:
            if part := _overlap(piece, form) if at_end else _overlap(form, piece):
                yield part, mark


def _overlap(text: str, other: str) -> int:
    """Tell how many characters at the end of a text are the beginning of the other; 0 for very few."""
    longest = min(len(text), len(other))
    start = len(text) - longest
    first = other[:_LEAST_PART]
    while len(first) == _LEAST_PART and (start := text.find(first, start)) >= 0:
        if other.startswith(text[start:]):
            return len(text) - start
        start += 1
    return 0


def _mark(name: str) -> str:
    return f"[secret {name}]"


@lru_cache(maxsize=8)
def _scrubber(secrets: tuple[tuple[str, str], ...]) -> Scrubber:
    return Scrubber(dict(secrets))


NOTHING_TO_HIDE = Scrubber({})
