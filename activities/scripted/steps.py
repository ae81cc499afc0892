"""The steps of a script, as its author writes them (docs/scripted-model.md)."""

from collections import Counter
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from activities.scripted.condition import Pattern, pattern_problem
from surefoot.price import Price

SCOPE_NAMES = frozenset({"last", "outcomes", "matched", "prompt", "message"})
"""What templates may begin with in any script; no call can be named like one of them."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ScriptedCall(_Part):
    """One tool call: `bash: {command: ls}`, and beside it perhaps `as: files`, a name for templates."""

    tool: Annotated[str, Field(min_length=1, max_length=200)]
    params: JsonValue
    """An object; text stands for arguments that could not be parsed as JSON."""
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")] | None = Field(None, alias="as")

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, written: JsonValue) -> JsonValue:
        fields = dict(written) if isinstance(written, dict) else {}
        name = fields.pop("as", None)
        if len(fields) != 1:
            raise ValueError("a call is one tool's name with its params, like `bash: {command: ls}`")
        if name in SCOPE_NAMES:
            raise ValueError(f"'{name}' already means something in templates; choose another name for 'as'")
        tool, params = fields.popitem()
        return {"tool": tool, "params": {} if params is None else params, "as": name}


class ScriptedFailure(_Part):
    """Trouble with the provider instead of a reply: `unavailable` may heal with time, `refused` may not."""

    unavailable: str | None = None
    refused: str | None = None
    retry_after_seconds: Annotated[float, Field(ge=0)] | None = None
    times: Annotated[int, Field(ge=1)] | None = None
    """How many attempts at the turn fail before the step's reply is given; None = all of them."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "ScriptedFailure":
        if (self.unavailable is None) == (self.refused is None):
            raise ValueError("needs either 'unavailable' or 'refused'")
        if self.refused is not None and (self.times, self.retry_after_seconds) != (None, None):
            raise ValueError("'refused' is final: 'times' and 'retry_after_seconds' go with 'unavailable'")
        return self


class ScriptedUsage(_Part):
    """What a reply is said to have cost, in tokens."""

    input_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(ge=0)] = 0
    cache_read_tokens: Annotated[int, Field(ge=0)] = 0
    cache_write_tokens: Annotated[int, Field(ge=0)] = 0


class ScriptedReply(_Part):
    """What the model says and calls in one turn, given if `when` is met; without calls it is the answer."""

    when: tuple[Pattern, ...] = ()
    """Each pattern must be met by some outcome of the last calls."""
    say: str | None = None
    reasoning: str = ""
    call: tuple[ScriptedCall, ...] = ()
    unreadable: str | None = None
    fail: ScriptedFailure | None = None
    usage: ScriptedUsage = ScriptedUsage()
    delay_seconds: Annotated[float, Field(ge=0, le=3_600)] = 0
    write_seconds: Annotated[float, Field(ge=0, le=3_600)] = 0
    """How long it is being written after that, word by word."""

    @field_validator("when", mode="before")
    @classmethod
    def _one_or_several(cls, written: JsonValue) -> JsonValue | tuple[JsonValue, ...]:
        patterns = written if isinstance(written, list) else [written]
        if not patterns:
            raise ValueError("an empty condition; leave 'when' out of a step that is always given")
        for pattern in patterns:
            if isinstance(pattern, dict) and (problem := pattern_problem(pattern)):
                raise ValueError(problem)
        return tuple(patterns)

    @field_validator("call")
    @classmethod
    def _named_once(cls, calls: tuple[ScriptedCall, ...]) -> tuple[ScriptedCall, ...]:
        names = Counter(call.name for call in calls if call.name is not None)
        if names and (most := names.most_common(1)[0])[1] > 1:
            raise ValueError(f"two calls made side by side are both named '{most[0]}'")
        return calls

    @model_validator(mode="after")
    def _fits_together(self) -> "ScriptedReply":
        fails_always = self.fail is not None and self.fail.times is None
        if fails_always and self.replies:
            raise ValueError("no reply comes after a 'fail' without 'times': every attempt fails")
        if not fails_always and not self.replies:
            raise ValueError("a step needs 'say', 'call', 'unreadable' or 'choose'")
        if self.unreadable is not None and self.call:
            raise ValueError("a reply that is 'unreadable' cannot 'call'")
        return self

    @property
    def replies(self) -> bool:
        """Whether there is a reply to give once nothing fails any more."""
        return bool(self.call) or self.say is not None or self.unreadable is not None


class Step(ScriptedReply):
    """One turn of the script, or several like it; `choose` holds replies and the first that fits is given."""

    repeat: Annotated[int, Field(ge=1, le=100_000)] = 1
    choose: tuple[ScriptedReply, ...] = ()

    @model_validator(mode="after")
    def _chooses_or_replies(self) -> "Step":
        beside = sorted(self.model_fields_set - {"choose", "when", "repeat"})
        if self.choose and beside:
            raise ValueError(f"'{beside[0]}' belongs in one of the replies to 'choose' from")
        return self

    @property
    def replies(self) -> bool:
        """Whether there is a reply to give once nothing fails any more."""
        return bool(self.choose) or super().replies

    @property
    def choices(self) -> tuple[ScriptedReply, ...]:
        """The replies to choose from; a step without `choose` is its own only reply."""
        return self.choose or (self,)


class Closing(_Part):
    """The answer when the run tells the model to close."""

    say: str


class ScriptedSummary(_Part):
    """What the model says of older turns when it is to summarise them."""

    say: str


class ScriptedOverflow(_Part):
    """A provider that refuses a conversation above a size; it may say how much its window holds."""

    above_bytes: Annotated[int, Field(ge=0)]
    window_tokens: Annotated[int, Field(ge=1)] | None = None


class Contents(_Part):
    """A whole script: what its file holds."""

    steps: tuple[Step, ...]
    closing: Closing | None = None
    price: Price | None = None
    context_window: Annotated[int, Field(ge=1)] | None = None
    summary: ScriptedSummary | None = None
    overflow: ScriptedOverflow | None = None

    @field_validator("steps")
    @classmethod
    def _not_empty(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        # As a length constraint it would be reported beside, and above, what is wrong in a step.
        if not steps:
            raise ValueError("a script has at least one step")
        return steps
