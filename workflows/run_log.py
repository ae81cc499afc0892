"""What of a run's ledger is worth a line in its worker's log; a replay logs nothing again."""

from temporalio import workflow

from surefoot.ledger import (
    ContextCompacted,
    Event,
    MessageReceived,
    ModelReplied,
    RunFinished,
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
            workflow.logger.info("message received", extra={} if sender is None else {"sender": sender})
        case RunFinished(status=status, error=error):
            told = {"status": status} if error is None else {"status": status, "error": error}
            workflow.logger.info("run finished", extra=told)
        case ToolExecutionFailed(tool=tool, tool_exec_id=tool_exec_id, error=error):
            told = {"tool": tool, "tool_exec_id": tool_exec_id, "error_code": error.code}
            workflow.logger.info("tool execution failed", extra={**told, "error": error.message})
        case ContextCompacted(reason=why, bytes_before=before, bytes_after=after):
            told = {"reason": why, "bytes_before": before, "bytes_after": after}
            workflow.logger.info("context compacted", extra=told)
        case (
            TurnStarted()
            | ModelReplied()
            | ToolExecutionScheduled()
            | ToolExecutionStarted()
            | ToolExecutionCompleted()
        ):
            pass
