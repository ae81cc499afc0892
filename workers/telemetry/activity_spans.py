"""The spans of activities: what a worker did of a run, and for how long, each attempt by itself."""

import asyncio
from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode, use_span
from opentelemetry.util.types import AttributeValue
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities.interface import (
    COMPACT_CONTEXT,
    DESCRIBE_QUEUE,
    KEEP_CONVERSATION,
    LIST_TOOLS,
    LLM_TURN,
    CompactInput,
    CompactResult,
    LlmTurnInput,
    LlmTurnResult,
)
from surefoot.masking import Masks
from surefoot.usage import Usage
from workers.telemetry.exporting import SCOPE
from workers.telemetry.messages import messages_json
from workers.telemetry.model_names import known_as, provider_of
from workers.telemetry.trace_headers import context_of, span_in

_OURS = frozenset({LLM_TURN, COMPACT_CONTEXT, LIST_TOOLS, DESCRIBE_QUEUE, KEEP_CONVERSATION})

_Said = dict[str, AttributeValue]


class ActivitySpans(ActivityInboundInterceptor):
    """Makes a span of each activity of a run that is traced; what it runs is traced below it."""

    def __init__(
        self,
        next: ActivityInboundInterceptor,  # noqa: A002  the SDK's own
        provider: TracerProvider,
        *,
        content: bool,
    ) -> None:
        super().__init__(next)
        self._tracer = provider.get_tracer(SCOPE)
        self._content = content

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401  the SDK's own
        """Trace one attempt."""
        if (parent := span_in(input.headers)) is None:
            return await super().execute_activity(input)
        span = self._begun(input, parent)
        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                result = await super().execute_activity(input)
        except ApplicationError as error:
            _fail(span, error.type or "ApplicationError")
            raise
        except asyncio.CancelledError:
            _fail(span, "cancelled")
            raise
        except Exception as error:
            _fail(span, type(error).__name__)
            raise
        else:
            span.set_attributes(self._result(result, _masks(input)))
            return result
        finally:
            span.end()

    def _begun(self, input: ExecuteActivityInput, parent: SpanContext) -> Span:  # noqa: A002
        info = activity.info()
        kind = SpanKind.INTERNAL
        said: _Said = {}
        match info.activity_type, *input.args:
            case _, LlmTurnInput() as turn, *_:
                name, kind, said = f"chat {known_as(turn.model)}", SpanKind.CLIENT, self._asked(turn)
            case _, CompactInput(turn=turn), *_:
                name, kind, said = COMPACT_CONTEXT, SpanKind.CLIENT, _model(turn)
            case _ if info.activity_type in _OURS:
                name = info.activity_type
            case _:
                name = f"run_tool {info.activity_type}"
                said = {"gen_ai.tool.name": info.activity_type, "surefoot.tool_exec_id": info.activity_id}
        common: _Said = {
            "surefoot.attempt": info.attempt,
            "surefoot.task_queue": info.task_queue,
            "gen_ai.conversation.id": info.workflow_id or "",
        }
        return self._tracer.start_span(name, context_of(parent), kind=kind, attributes={**said, **common})

    def _asked(self, turn: LlmTurnInput) -> _Said:
        said: _Said = {**_model(turn), "surefoot.closing": turn.closing}
        if self._content:
            said["gen_ai.input.messages"] = messages_json(turn.new_messages, turn.redact)
        return said

    def _result(self, result: object, masks: Masks) -> Mapping[str, AttributeValue]:
        match result:
            case LlmTurnResult(reply=reply, usage=usage, model_name=name):
                reasons = ["tool_call" if reply.tool_calls else "stop"]
                said = {**_usage(usage), "gen_ai.response.model": name}
                said |= {"gen_ai.response.finish_reasons": reasons}
                if self._content:
                    said["gen_ai.output.messages"] = messages_json((reply,), masks)
                return said
            case CompactResult(usage=usage) if usage.requests:
                return _usage(usage)
            case _:
                return {}


def _masks(input: ExecuteActivityInput) -> Masks:  # noqa: A002  the SDK's own
    match input.args:
        case [LlmTurnInput(redact=redact), *_]:
            return redact
        case _:
            return {}


def _model(turn: LlmTurnInput) -> _Said:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider_of(turn.model),
        "gen_ai.request.model": known_as(turn.model),
        "surefoot.turn": turn.turn,
    }


def _usage(usage: Usage) -> _Said:
    said: _Said = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    return said if usage.cost is None else {**said, "surefoot.cost_dollars": float(usage.cost)}


def _fail(span: Span, code: str) -> None:
    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR, code))
