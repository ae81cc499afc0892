"""Carries out approvals: a call that needs one waits for it, and holds nothing for as long as that takes."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from surefoot.admission import Admitted, Refused
from surefoot.approvals import Approved, Denied, Question, Questions, patience
from surefoot.budget import period
from surefoot.conversation import UserMessage
from surefoot.decision_token import Asking, signer_of, why_not_signed
from surefoot.events import (
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    Event,
)
from surefoot.masking import masked_paths
from surefoot.run import Approve, Deny, RunInput
from surefoot.strict_json import encode_json
from surefoot.told import edited_text
from surefoot.untrusted import UntrustedSource
from workflows.call_events import Named
from workflows.signatures import is_signed


class Approvals:
    """The approvals of one run; their events go to `record`."""

    def __init__(self, record: Callable[[Event], None]) -> None:
        self._record = record
        self._run: RunInput | None = None
        self._questions = Questions()

    def go_on(self, tools: tuple[str, ...], after_untrusted: tuple[str, ...] = ()) -> None:
        """Go on with what the run before this one in its chain was allowed."""
        self._questions = Questions(tools=frozenset(tools), tools_after_untrusted=frozenset(after_untrusted))

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that are approved for the rest of the run."""
        return tuple(sorted(self._questions.tools))

    @property
    def tools_after_untrusted(self) -> tuple[str, ...]:
        """Those of them that were approved when untrusted content had been read."""
        return tuple(sorted(self._questions.tools_after_untrusted))

    def begin_turn(
        self,
        run: RunInput,
        decisions: Mapping[str, Admitted | Refused],
        untrusted: UntrustedSource | None,
    ) -> None:
        """Ask about the calls of a turn that need approval; calls are named by their ids.

        `untrusted` is what the run has read before.

        Raises:
            ApplicationError: one does, and the run is to fail then.
        """
        self._run, self._questions = run, self._questions.begin_turn(run, decisions, untrusted)
        questions = [*self._questions.open.values()]
        for question in questions:
            self._ask(question, run)
        if questions and run.on_approval == "fail":
            raise ApplicationError(_unapproved(questions[0]))
        if run.on_approval == "deny":
            for question in questions:
                self._deny(question.tool_exec_id, Denied("nobody can be asked in this run"))

    async def decision(self, tool_exec_id: str, call: Admitted) -> Admitted | Denied:
        """Wait until a call may be made, and give what it is made with; or why it may not.

        Raises:
            CancelledError: the call, or the run, was cancelled before anybody decided.
        """
        if (question := self._questions.open.get(tool_exec_id)) is not None:
            await self._decided(question)
        elif tool_exec_id not in self._questions.decisions:
            return call
        match self._questions.decisions[tool_exec_id]:
            case Approved(call=approved):
                return approved
            case Denied() as denied:
                return denied

    def approve(self, request: Approve) -> None:
        """Let a call be made, and with it those that the same decision is about."""
        before = self._questions
        self._questions = before.approve(request, signed_by=signer_of(request, self._authority))
        for tool_exec_id, decision in self._questions.decisions.items():
            if isinstance(decision, Approved) and tool_exec_id in before.open:
                given = ApprovalGiven(
                    params_sha256=before.open[tool_exec_id].params_sha256,
                    scope=decision.scope,
                    by=decision.by,
                    params=decision.call.params if decision.edited else None,
                    redact=masked_paths(decision.call.definition) if decision.edited else (),
                    signed_by=decision.signed_by,
                    **_named(before.open[tool_exec_id]),
                )
                self._record(given)

    def deny(self, request: Deny) -> None:
        """Have a call not be made."""
        denied = Denied(request.reason.strip(), request.by, signer_of(request, self._authority))
        self._deny(request.tool_exec_id, denied)

    def why_not_approve(self, request: Approve) -> str | None:
        """Say in a sentence why an approval is not taken; None if it is."""
        return self._questions.why_not_approve(request) or self._why_not_signed(request)

    def why_not_deny(self, request: Deny) -> str | None:
        """Say in a sentence why a denial is not taken; None if it is."""
        return self._questions.why_not_deny(request) or self._why_not_signed(request)

    def told(self) -> tuple[UserMessage, ...]:
        """Give what the model is told, after a turn, of calls that were made with other params."""
        edited = {
            name: one
            for name, one in self._questions.decisions.items()
            if isinstance(one, Approved) and one.edited
        }
        return tuple(
            UserMessage(
                text=edited_text(_number(name), one.call.definition.name, encode_json(one.call.params)),
                purpose="approval",
            )
            for name, one in sorted(edited.items(), key=lambda named: _number(named[0]))
        )

    @property
    def _authority(self) -> tuple[str, ...]:
        return self._run.authority if self._run else ()

    def _why_not_signed(self, request: Approve | Deny) -> str | None:
        # This one of the chain, for no question outlives it, and a reset has it decided about again.
        asking = Asking(workflow.info().workflow_id, workflow.info().run_id)
        return why_not_signed(request, self._authority, asking, workflow.now(), is_signed)

    def _ask(self, question: Question, run: RunInput) -> None:
        limit = patience(run, question.call)
        self._record(
            ApprovalRequested(
                params=question.call.params,
                params_sha256=question.params_sha256,
                redact=masked_paths(question.call.definition),
                why=question.why,
                deadline=None if limit is None else workflow.now() + limit,
                signed=bool(run.authority),
                **_named(question),
            )
        )

    async def _decided(self, question: Question) -> None:
        name = question.tool_exec_id
        limit = patience(self._run, question.call) if self._run else None
        try:
            await workflow.wait_condition(
                lambda: name not in self._questions.open,
                timeout=limit,
                timeout_summary=f"approval of {question.tool} in call {name}",
            )
        except TimeoutError:
            if name in self._questions.open:
                self._deny(name, Denied(f"nobody decided within {period(limit or timedelta())}"))
        finally:
            self._questions = self._questions.withdraw(name)

    def _deny(self, tool_exec_id: str, denied: Denied) -> None:
        question = self._questions.open[tool_exec_id]
        self._questions = self._questions.deny(tool_exec_id, denied)
        self._record(
            ApprovalDenied(
                params_sha256=question.params_sha256,
                reason=denied.reason,
                by=denied.by,
                signed_by=denied.signed_by,
                **_named(question),
            )
        )


def _unapproved(question: Question) -> str:
    return (
        f"tool call {question.tool_exec_id} of '{question.tool}' needs approval ({question.why}), "
        "and the run was started to fail then"
    )


def _named(question: Question) -> Named:
    return Named(
        tool_exec_id=question.tool_exec_id,
        call_id=question.call.call.id,
        tool=question.tool,
        time=workflow.now(),
    )


def _number(tool_exec_id: str) -> int:
    return int(tool_exec_id.rpartition("-")[2])
