"""The questions of one run: which calls wait for approval, and which decisions about them are taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pydantic import JsonValue

from surefoot.admission import Admitted, Refused, admit, input_bytes
from surefoot.approval import ruling, why_to_ask
from surefoot.canonical import json_sha256
from surefoot.events import ApprovalScope
from surefoot.run import Approve, Deny, RunInput
from surefoot.sizes import MAX_APPROVAL_REASON_CHARACTERS, MAX_SENDER_CHARACTERS, MAX_TURN_INPUTS_BYTES, count
from surefoot.strict_json import is_unicode
from surefoot.summary import shorten
from surefoot.untrusted import UntrustedSource, why_to_ask_after

_MAX_LISTED = 8
_MAX_REMEMBERED = 100


def params_sha256(params: Mapping[str, JsonValue]) -> str:
    """Give the hash that a decision names: of the params as JSON with sorted keys, no spaces, and UTF-8."""
    return json_sha256(dict(params))


@dataclass(frozen=True)
class Question:
    """One call that may be made once somebody has approved it."""

    tool_exec_id: str
    call: Admitted
    params_sha256: str
    why: str
    first_use: bool = False
    """Whether an approval of this call is one of all later ones, untrusted content apart."""
    after_untrusted: bool = False
    """Whether it is asked because the run has read untrusted content."""

    @property
    def tool(self) -> str:
        """What is called."""
        return self.call.definition.name


@dataclass(frozen=True)
class Approved:
    """The call is made; where somebody edited its params, with those."""

    call: Admitted
    scope: ApprovalScope
    by: str | None
    edited: bool = False
    signed_by: str | None = None
    """The name of the key that signed it, where one had to."""


@dataclass(frozen=True)
class Denied:
    """The call is not made."""

    reason: str
    by: str | None = None
    signed_by: str | None = None
    """The name of the key that signed it, where one had to."""


Decision = Approved | Denied


@dataclass(frozen=True)
class Questions:
    """What is asked in a turn, what was decided, and the tools that need no approval any more."""

    open: Mapping[str, Question] = field(default_factory=dict[str, Question])
    decisions: Mapping[str, Decision] = field(default_factory=dict[str, Decision])
    before: Mapping[str, str] = field(default_factory=dict[str, str])
    """How the newest calls of earlier turns were decided, in a few words."""
    tools: frozenset[str] = frozenset()
    """Approved for the rest of the run."""
    tools_after_untrusted: frozenset[str] = frozenset()
    """Those of them that somebody approved when untrusted content had been read."""
    untrusted: UntrustedSource | None = None
    """What had been read when the turn began."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """What travels with each call of the turn, in bytes."""

    def begin_turn(
        self,
        run: RunInput,
        decisions: Mapping[str, Admitted | Refused],
        untrusted: UntrustedSource | None = None,
    ) -> "Questions":
        """Ask about those calls of a turn, by their ids, that need approval.

        `untrusted` is what the run had read before the model asked for them.
        """
        admitted = {name: one for name, one in decisions.items() if isinstance(one, Admitted)}
        asked = {
            name: question
            for name, one in admitted.items()
            if (question := self._question(name, one, run, untrusted)) is not None
        }
        sizes = {name: input_bytes(one) for name, one in admitted.items()} if asked else {}
        return Questions(
            open=asked,
            before=self._settled(),
            tools=self.tools,
            tools_after_untrusted=self.tools_after_untrusted,
            untrusted=untrusted,
            sizes=sizes,
        )

    def approve(self, request: Approve, *, signed_by: str | None = None) -> "Questions":
        """Take an approval that nothing speaks against; other calls of the tool may be decided by it, too."""
        question = self.open[request.tool_exec_id]
        call = _edited(question, request.params)
        if not isinstance(call, Admitted):
            raise TypeError(f"not checked: {call}")
        edited = request.params is not None
        approved = Approved(call, request.scope, request.by, edited=edited, signed_by=signed_by)
        taken = self._decide(question, approved)
        if request.scope != "run" and not question.first_use:
            return taken
        for_the_run = request.scope == "run"
        others = {
            name: one
            for name, one in taken.open.items()
            if one.tool == question.tool and (for_the_run or not one.after_untrusted)
        }
        decided = {
            name: Approved(one.call, "run", request.by, signed_by=signed_by) for name, one in others.items()
        }
        return replace(
            taken,
            tools=taken.tools | {question.tool},
            tools_after_untrusted=taken.tools_after_untrusted
            | ({question.tool} if for_the_run and taken.untrusted is not None else frozenset()),
            open={name: one for name, one in taken.open.items() if name not in others},
            decisions={**taken.decisions, **decided},
        )

    def deny(self, tool_exec_id: str, denied: Denied) -> "Questions":
        """Deny a call that waits."""
        return self._decide(self.open[tool_exec_id], denied)

    def withdraw(self, tool_exec_id: str) -> "Questions":
        """Ask no more about a call that will not be made, whatever is decided."""
        return replace(self, open={name: one for name, one in self.open.items() if name != tool_exec_id})

    def why_not_approve(self, request: Approve) -> str | None:
        """Say in a sentence why an approval is not taken; None if it is."""
        reason = self._why_not(request.tool_exec_id, request.params_sha256, request.by)
        if reason is not None or request.params is None:
            return reason
        question = self.open[request.tool_exec_id]
        call = _edited(question, request.params)
        if not isinstance(call, Admitted):
            return call
        total = sum(self.sizes.values()) - self.sizes[question.tool_exec_id] + input_bytes(call)
        if total > MAX_TURN_INPUTS_BYTES:
            limit = count(MAX_TURN_INPUTS_BYTES)
            return f"with these params those of the turn's calls would be above the limit of {limit}"
        return None

    def why_not_deny(self, request: Deny) -> str | None:
        """Say in a sentence why a denial is not taken; None if it is."""
        if not request.reason.strip():
            return "a denial needs a reason, which the model is told"
        if not is_unicode(request.reason):
            return "the reason holds bytes that are no UTF-8"
        if len(request.reason) > MAX_APPROVAL_REASON_CHARACTERS:
            return f"the reason is longer than {MAX_APPROVAL_REASON_CHARACTERS:,} characters"
        return self._why_not(request.tool_exec_id, request.params_sha256, request.by)

    def _question(
        self, tool_exec_id: str, call: Admitted, run: RunInput, untrusted: UntrustedSource | None
    ) -> Question | None:
        definition = call.definition
        approval = ruling(definition.name, definition.approval, run.approval, run.approve)
        why = after = None
        if definition.name not in self.tools:
            why = why_to_ask(
                approval,
                call.params,
                destructive=definition.annotations.destructive_hint,
                directory=run.working_directory,
            )
        if untrusted is not None and definition.name not in self.tools_after_untrusted:
            rules, directory = run.after_untrusted, run.working_directory
            after = why_to_ask_after(untrusted, call, rules, directory=directory)
        if (told := after or why) is None:
            return None
        first_use = why is not None and approval == "first-use"
        return Question(tool_exec_id, call, params_sha256(call.params), told, first_use, after is not None)

    def _why_not(self, tool_exec_id: str, named_sha256: str, by: str | None) -> str | None:
        shown = shorten(tool_exec_id)
        if not is_unicode(by or "") or len(by or "") > MAX_SENDER_CHARACTERS:
            return f"the name of who decides is no text of at most {MAX_SENDER_CHARACTERS} characters"
        if (told := self._settled().get(tool_exec_id)) is not None:
            return f"tool call '{shown}' has already been decided: it was {told}"
        if not self.open:
            return f"no tool call of this run waits for approval, and '{shown}' does not"
        if (question := self.open.get(tool_exec_id)) is None:
            waiting = ", ".join([*self.open][:_MAX_LISTED]) + (", …" if len(self.open) > _MAX_LISTED else "")
            return f"no tool call '{shown}' waits for approval; these do: {waiting}"
        if named_sha256.strip().lower() != question.params_sha256:
            return f"the hash is not that of the params of tool call '{shown}': look at them again"
        return None

    def _settled(self) -> dict[str, str]:
        told = {**self.before, **{name: _told(decision) for name, decision in self.decisions.items()}}
        return dict([*told.items()][-_MAX_REMEMBERED:])

    def _decide(self, question: Question, decision: Decision) -> "Questions":
        decided = self.withdraw(question.tool_exec_id)
        return replace(decided, decisions={**self.decisions, question.tool_exec_id: decision})


def patience(run: RunInput, call: Admitted) -> timedelta | None:
    """Tell how long a call waits for approval; None is for ever."""
    limits = (call.definition.approval_timeout_seconds, run.approval_seconds)
    seconds = min((limit for limit in limits if limit is not None), default=None)
    return None if seconds is None else timedelta(seconds=seconds)


def _edited(question: Question, params: JsonValue) -> Admitted | str:
    """Give the call with other params, checked as the model's are; or why it cannot be made with them."""
    if params is None:
        return question.call
    call = question.call.call.model_copy(update={"params": params})
    (checked,) = admit([call], [question.call.definition])
    if isinstance(checked, Refused):
        return f"the edited params are refused: {checked.failure.error}"
    return checked


def _told(decision: Decision) -> str:
    word = "approved" if isinstance(decision, Approved) else "denied"
    return word if decision.by is None else f"{word} by {shorten(decision.by)}"
