"""What of a run's ledger is worth a line in its worker's log; a replay logs nothing again."""

from temporalio import workflow

from surefoot.events import (
    Answered,
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    ContextCompacted,
    Event,
    LimitRaised,
    MessageReceived,
    ModelReplied,
    ModelUnavailable,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
    TurnStarted,
)


def log_event(event: Event) -> None:
    """Log where a run begins and ends, and each tool execution that failed; never what was said in it."""
    match event:
        case RunStarted():
            workflow.logger.info("run started")
        case MessageReceived(sender=sender):
            workflow.logger.info("message received", extra=_said(sender=sender))
        case RunPaused() | ModelUnavailable() | RunResumed() | LimitRaised():
            _log_steering(event)
        case ApprovalRequested() | ApprovalGiven() | ApprovalDenied():
            _log_approval(event)
        case RunFinished(status=status, error=error):
            told = {"status": status} if error is None else {"status": status, "error": error}
            workflow.logger.info("run finished", extra=told)
        case ToolExecutionFailed(tool=tool, tool_exec_id=tool_exec_id, outcome=failure):
            # Without the sentence, which may quote what the tool was given or printed.
            told = {"tool": tool, "tool_exec_id": tool_exec_id, "error_code": failure.error_code}
            workflow.logger.info("tool execution failed", extra={**told, "exit_code": failure.exit_code})
        case ContextCompacted(reason=why, bytes_before=before, bytes_after=after):
            told = {"reason": why, "bytes_before": before, "bytes_after": after}
            workflow.logger.info("context compacted", extra=told)
        case (
            TurnStarted()
            | Answered()
            | ModelReplied()
            | ToolExecutionScheduled()
            | ToolExecutionStarted()
            | ToolExecutionCompleted()
        ):
            pass


def _log_steering(event: RunPaused | ModelUnavailable | RunResumed | LimitRaised) -> None:
    match event:
        case RunPaused(reason=reason, sender=sender):
            workflow.logger.info("run paused", extra=_said(reason=reason, sender=sender))
        case ModelUnavailable(turn=turn, reason=reason):
            workflow.logger.warning("run waits for its model", extra={"turn": turn, "reason": reason})
        case RunResumed(sender=sender):
            workflow.logger.info("run resumed", extra=_said(sender=sender))
        case LimitRaised(limits=limits, reason=reason, sender=sender):
            told = {"limits": dict(limits), **_said(reason=reason, sender=sender)}
            workflow.logger.info("limit raised", extra=told)


def _log_approval(event: ApprovalRequested | ApprovalGiven | ApprovalDenied) -> None:
    told = {"tool": event.tool, "tool_exec_id": event.tool_exec_id}
    match event:
        case ApprovalRequested(why=why):
            workflow.logger.info("approval requested", extra={**told, "reason": why})
        case ApprovalGiven(scope=scope, by=by):
            workflow.logger.info("approval given", extra={**told, "scope": scope, **_said(sender=by)})
        case ApprovalDenied(reason=reason, by=by):
            workflow.logger.info("approval denied", extra={**told, **_said(reason=reason, sender=by)})


def _said(**told: str | None) -> dict[str, str]:
    return {name: text for name, text in told.items() if text is not None}
