"""The run of an agent: asks what comes next, and carries it out."""

import asyncio
from typing import NoReturn

from pydantic import JsonValue
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

from surefoot.carried import Carried, Said, unpack
from surefoot.conversation import Conversation, Message, SystemMessage, UserMessage
from surefoot.definition import ToolDefinition
from surefoot.events import RunFinished, RunStatus
from surefoot.inbox import CONTINUES_AS_NEW, Inbox
from surefoot.masking import masks_of
from surefoot.progress import NEXT_MESSAGE
from surefoot.prompt import system_prompt
from surefoot.run import (
    WORKFLOW,
    RunInput,
    RunResult,
    Session,
)
from surefoot.spent import NOTHING_SPENT, Spent, Used
from surefoot.turn import (
    CallModel,
    Finish,
    LimitReached,
    Listen,
    ModelUnreadable,
    RefuseTools,
    RunTools,
    Tell,
    ends,
    next_step,
)
from workflows.bugs import BUGS, explained, is_bug
from workflows.chain import go_on_as_new, is_due
from workflows.keeping import small_enough
from workflows.known_limits import known_limits
from workflows.model_turns import ModelTurns
from workflows.payloads import UndecodableError, opened, typed
from workflows.reasons import reason_of
from workflows.steered import Steered
from workflows.sub_agents import Caller
from workflows.telling_parent import tell_parent
from workflows.tool_list import equipped
from workflows.window import ContextWindow

# Stands for the input of a run that was started with none: the SDK then calls `run` without it.
_NO_INPUT = RawValue(Payload())


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Agent(Steered):
    """One run of an agent, from its prompt to its answer."""

    def __init__(self) -> None:
        super().__init__()
        self._model_turns = ModelTurns(self._log.record)
        self._window = ContextWindow(self._model_turns, self._log.record, self._go_on_with)
        self._spent = NOTHING_SPENT
        self._turns_here = 0
        self._tells_parent = False

    @workflow.run
    async def run(self, raw_input: RawValue = _NO_INPUT) -> RunResult:
        """Run to the end: an answer, a limit, or a model that cannot be asked."""
        try:
            return await self._to_its_end(raw_input)
        finally:
            await self._notices.told()

    async def _to_its_end(self, raw_input: RawValue) -> RunResult:
        try:
            return await self._run(typed(None if raw_input is _NO_INPUT else opened(raw_input), RunInput))
        except (FailureError, UndecodableError, asyncio.CancelledError) as error:
            if is_cancelled_exception(error) and workflow.cancellation_reason() is not None:
                self._finish("cancelled", error=workflow.cancellation_reason() or None)
                if self._tells_parent:
                    await tell_parent(self._spent_so_far().used)
                raise
            reason = reason_of(error)
            self._finish("failed", error=reason)
            raise self._failure(reason) from error
        except BaseException as bug:
            if not is_bug(bug):
                raise
            self._finish("failed", error=explained(bug))
            raise self._failure(explained(bug)) from bug

    async def _run(self, run: RunInput) -> RunResult:
        self._tells_parent = run.tells_parent
        self._notices.begin(run)
        run, tools = await self._begin(run)
        self.tools = frozenset(tool.name for tool in tools)
        self._model_turns.masks = masks_of(tools)
        while True:
            run = self._limited(run)
            spent = self._spent_so_far()
            limits = known_limits(run.limits, spent)
            self._visible.spend(limits, spent, turns=self._conversation.turns)
            step = next_step(self._conversation, limits, spent, output_schema=run.output_schema)
            if self._steering.hold is not None and not ends(step):
                # It may have been paused before it had begun, and could not be told of it.
                self._visible.become(self._visible.progress)
                await self.unheld()
                continue
            if run.session is not None and isinstance(step, Finish | Listen):
                await self._converse(run.session, step)
            self._inbox, told = self._inbox.before(step)
            if told:
                await self._hear(*told)
                continue
            match step:
                case Listen():
                    return self._result("", None)
                case Finish(answer=answer, output=output):
                    return self._result(answer, output)
                case LimitReached(reason=reason, answer=answer, output=output):
                    return self._result(answer, output, reason)
                case ModelUnreadable(reason=reason):
                    raise ApplicationError(reason)
                case CallModel() if self._turns_here and is_due(run.chain, updates=self._updates):
                    await self._go_on_as_new(run, tools)
                case _:
                    await self._take(step, run, tools)

    async def _begin(self, run: RunInput) -> tuple[RunInput, tuple[ToolDefinition, ...]]:
        """Begin the conversation, or go on with the one that is carried; gives where and with what tools."""
        if run.carried is None:
            self._go_on_held(run)
            self._visible.begin(run)
            self._spent = Spent(started_at=workflow.info().workflow_start_time)
            run, tools = await equipped(run)
            self._untrusted.begin(run.untrusted, tools, network=run.network)
            outside = self._untrusted.outside(tools)
            text = system_prompt(run.system, run.output_schema, outside=outside)
            system = SystemMessage(text=text, tools=tools)
            prompt = (UserMessage(text=run.prompt),) if run.prompt.strip() else ()
            self._conversation = self._conversation.append(system, *prompt)
            return run, tools
        carried = unpack(run.carried)
        self._go_on_held(run, carried)
        self._visible.begin(run, carried.progress)
        self._untrusted.begin(carried.untrusted or run.untrusted, carried.tools, network=run.network)
        self._approvals.go_on(carried.approved_tools, carried.approved_after_untrusted)
        self.slices.go_on(carried.slices)
        self._inbox = Inbox((*carried.waiting, *self._inbox.waiting), unanswered=carried.unanswered)
        self._conversation = carried.said.conversation()
        self._spent = carried.spent
        self._model_turns.go_on(carried.given, carried.spent.usage)
        self._window.known = carried.context
        self._log.go_on(
            carried.events, executions=carried.tool_executions, failed=carried.failed_tool_executions
        )
        return run, carried.tools

    async def _converse(self, session: Session, step: Finish | Listen) -> None:
        answer = step if isinstance(step, Finish) else None
        if answer is None:
            self._visible.become(self._visible.progress.model_copy(update={"waiting_for": NEXT_MESSAGE}))
        await self._listen(session, answer, turn=self._conversation.turns)

    async def _go_on_as_new(self, run: RunInput, tools: tuple[ToolDefinition, ...]) -> NoReturn:
        self._conversation = await small_enough(
            self._conversation, self._model_turns.given, queue=run.model_queue
        )
        # Before anything is carried: what happens while people are told goes along.
        await self._notices.told()
        await go_on_as_new(run, lambda: self._carry(tools))

    def _carry(self, tools: tuple[ToolDefinition, ...]) -> Carried:
        self._inbox = self._inbox.close(CONTINUES_AS_NEW)
        return Carried(
            tools=tools,
            said=Said.of(self._conversation),
            given=self._model_turns.given,
            spent=self._spent_so_far(),
            context=self._window.known,
            tool_executions=self._log.executions,
            failed_tool_executions=self._log.failed,
            events=self._log.length,
            waiting=self._inbox.waiting,
            unanswered=self._inbox.unanswered,
            approved_tools=self._approvals.tools,
            approved_after_untrusted=self._approvals.tools_after_untrusted,
            untrusted=self._untrusted.source,
            hold=self._steering.hold,
            limits=self._steering.limits,
            slices=self.slices.carried(),
            progress=self._visible.progress,
        )

    async def _take(
        self,
        step: CallModel | RunTools | RefuseTools | Tell,
        run: RunInput,
        tools: tuple[ToolDefinition, ...],
    ) -> None:
        said = self._conversation
        match step:
            case CallModel(closing=closing):
                self._turns_here += 1
                messages = await self._ask(run, closing=closing)
            case RunTools(calls=calls, refused=refused, limit=limit):
                answers = self._tool_calls.refuse(refused, limit, turn=said.turns, made=len(calls))
                caller = Caller(run, self._spent_so_far(), self._untrusted.source)
                outcomes = await self._tool_calls.run(calls, tools, caller, turn=said.turns)
                messages = (*outcomes, *answers, *self._approvals.told())
            case RefuseTools(calls=calls, limit=limit):
                messages = self._tool_calls.refuse(calls, limit, turn=said.turns)
            case Tell(message=message, limit=limit):
                messages = (message,)
                self._spent = self._spent.told_of(limit)
        await self._hear(*messages)

    async def _ask(self, run: RunInput, *, closing: bool) -> tuple[Message, ...]:
        """Give what the model replies; nothing, where the run is to wait for it."""
        try:
            return (await self._window.ask(run, self._conversation, closing=closing),)
        except ActivityError as error:
            if run.on_model_failure == "fail" or is_cancelled_exception(error):
                raise
            self._wait_for_model(reason_of(error), turn=self._conversation.turns + 1)
            return ()

    async def _hear(self, *messages: Message) -> None:
        said = self._conversation
        for message in messages:
            await self._pace.take(message.model_dump_json().encode())
            said = said.append(message)
            self._spent = self._spent.after(message)
        self._conversation = said

    def _go_on_with(self, conversation: Conversation) -> None:
        # At once: the turn that is about to be taken may ask for it.
        self._conversation = conversation

    def _count(self, used: Used) -> None:
        self._spent = self._spent.with_calls(used.tool_calls)
        self._model_turns.usage += used.usage

    def _failure(self, reason: str) -> ApplicationError:
        used = self._spent_so_far().used
        read = () if (source := self._untrusted.source) is None else (source,)
        return ApplicationError(reason, used, *read, type="RUN_FAILED", non_retryable=True)

    def _spent_so_far(self) -> Spent:
        return self._spent.at(workflow.now(), self._model_turns.usage)

    def _result(self, answer: str, output: JsonValue, reason: str | None = None) -> RunResult:
        status = "limit_reached" if reason else "completed"
        self._finish(status, answer=answer, output=output, error=reason)
        return RunResult(
            status=status,
            answer=answer,
            output=output,
            reason=reason,
            turns=self._conversation.turns,
            tool_executions=self._log.executions,
            failed_tool_executions=self._log.failed,
            usage=self._model_turns.usage,
            tool_calls=self._spent.tool_calls,
            untrusted=self._untrusted.source is not None,
        )

    def _finish(
        self,
        status: RunStatus,
        *,
        answer: str | None = None,
        output: JsonValue = None,
        error: str | None = None,
    ) -> None:
        usage = self._model_turns.usage
        self._inbox = self._inbox.close()
        self._log.record(
            RunFinished(
                time=workflow.now(), status=status, answer=answer, output=output, error=error, usage=usage
            )
        )
