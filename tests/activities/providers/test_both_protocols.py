"""The conversations of the examples, held with a model that takes tools and with one that takes only text."""

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from activities.interface import ToolCallInput
from activities.providers.model import ProviderModel
from activities.providers.settings import ProviderSettings
from activities.scripted.model import ScriptedModel
from activities.scripted.script import Script, load_script
from activities.tools.discovery import Discovery, discover_tools
from activities.tools.executor import ToolExecutor
from activities.tools.sources import BUILTIN_DIRECTORY
from surefoot.admission import Admitted, Refused, admit
from surefoot.conversation import (
    AssistantMessage,
    Conversation,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.limits import Limits
from surefoot.outcome import ToolFailure, ToolSuccess, envelope
from surefoot.run import Protocol
from surefoot.spent import NOTHING_SPENT
from surefoot.strict_json import encode_json, strict_json
from surefoot.turn import CallModel, Finish, RunTools, next_step

ROOT = Path(__file__).parents[3]
CONVERSATIONS = ROOT / "examples" / "conversations"
FAILURES = ROOT / "examples" / "failures"
BASH = (BUILTIN_DIRECTORY,)

Outcomes = dict[tuple[str, str], ToolSuccess | ToolFailure]
"""What calls came to, by the tool and its params as JSON."""


@dataclass
class RemoteScript:
    """A provider's model that plays a script, and knows nothing but what was sent to it."""

    script: Script
    protocol: Protocol
    seen: list[list[str]] = field(default_factory=list[list[str]])
    """The outcomes that came with each request, as they were sent."""
    _said: list[Message] = field(default_factory=list[Message])

    async def answer(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        """Read what is new, and give the script's next reply as the protocol has it."""
        request = messages[-1]
        assert isinstance(request, ModelRequest)
        self.seen.append(self._outcomes(request))
        self._said += self._new_messages(self.seen[-1])
        reply = (await ScriptedModel(self.script).reply(self._said, closing=False)).reply
        self._said.append(reply)
        return ModelResponse(
            parts=native_parts(reply) if self.protocol == "native" else [prompted_part(reply)]
        )

    def _outcomes(self, request: ModelRequest) -> list[str]:
        if self.protocol == "native":
            return [str(part.content) for part in request.parts if isinstance(part, ToolReturnPart)]
        texts = [str(part.content) for part in request.parts if isinstance(part, UserPromptPart)]
        return re.findall(r"^### \S+ \(call \d+\)\n(.*)$", "\n".join(texts), flags=re.MULTILINE)

    def _new_messages(self, outcomes: list[str]) -> list[Message]:
        last = self._said[-1] if self._said else None
        if not isinstance(last, AssistantMessage):
            return [SystemMessage(text=""), UserMessage(text="Go on.")]
        return [
            ToolMessage.model_validate(
                {"call_id": call.id, "tool": call.tool, "outcome": strict_json(outcome)}
            )
            for call, outcome in zip(last.tool_calls, outcomes, strict=True)
        ]


def native_parts(reply: AssistantMessage) -> list[ModelResponsePart]:
    calls = (
        ToolCallPart(tool_name=call.tool, args=encode_json(call.params), tool_call_id=call.id)
        for call in reply.tool_calls
    )
    return [*([TextPart(content=reply.text)] if reply.text else []), *calls]


def prompted_part(reply: AssistantMessage) -> TextPart:
    if not reply.tool_calls:
        return TextPart(content=reply.text)
    calls = encode_json(
        {
            "reasoning": reply.reasoning,
            "tool_calls": [{"tool": call.tool, "params": call.params} for call in reply.tool_calls],
        }
    )
    return TextPart(content=f"{reply.text}\n\n```json\n{calls}\n```")


async def hold(remote: RemoteScript, tools: Discovery, directory: Path, known: Outcomes) -> str:
    """Hold the conversation to its answer; a call whose outcome is known is not made again."""
    executor = ToolExecutor(tools.tools, directory, os.environ)
    whole = ProviderSettings(streaming=False)
    model = ProviderModel(FunctionModel(remote.answer), protocol=remote.protocol, settings=whole)
    said = Conversation().append(SystemMessage(text="", tools=tools.definitions), UserMessage(text="Go on."))
    while True:
        match next_step(said, Limits(), NOTHING_SPENT):
            case CallModel():
                said = said.append((await model.reply(said.messages, closing=False)).reply)
            case RunTools(calls=calls):
                checked = admit(calls, tools.definitions)
                outcomes = await asyncio.gather(*(outcome_of(executor, one, known) for one in checked))
                said = said.append(*results(calls, outcomes))
            case Finish(answer=answer):
                return answer
            case other:
                raise AssertionError(other)


async def outcome_of(
    executor: ToolExecutor, checked: Admitted | Refused, known: Outcomes
) -> ToolSuccess | ToolFailure:
    match checked:
        case Refused(failure=failure):
            return failure
        case Admitted(call=call, params=params, timeout=timeout):
            key = (call.tool, encode_json(params))
            if key not in known:
                seconds = timeout.total_seconds()
                request = ToolCallInput(
                    tool=call.tool, params=params, call_id=f"{len(known)}", timeout_seconds=seconds
                )
                known[key] = await executor.run(request)
            return known[key]


def results(calls: Sequence[ToolCall], outcomes: Sequence[ToolSuccess | ToolFailure]) -> list[ToolMessage]:
    return [
        ToolMessage(call_id=call.id, tool=call.tool, outcome=outcome)
        for call, outcome in zip(calls, outcomes, strict=True)
    ]


def _scripts() -> list[object]:
    tools = {"crash": (FAILURES,), "timeout": (FAILURES,)}
    found = [
        pytest.param(file, tools.get(file.stem, BASH), CONVERSATIONS / "workdir", id=file.stem)
        for file in sorted(CONVERSATIONS.glob("*.yaml"))
    ]
    demo = pytest.param(FAILURES / "demo.yaml", (*BASH, FAILURES), ROOT, id="demo", marks=pytest.mark.long)
    return [*found, demo]


@pytest.mark.parametrize(("script", "sources", "directory"), _scripts())
async def test_both_protocols_show_the_model_the_same_outcomes_to_the_byte(
    script: Path, sources: Sequence[Path], directory: Path
) -> None:
    tools, known = discover_tools(sources), Outcomes()
    native, prompted = (RemoteScript(load_script(script), protocol) for protocol in ("native", "prompted"))

    answer = await hold(native, tools, directory, known)
    made = set(known)

    assert await hold(prompted, tools, directory, known) == answer
    assert prompted.seen == native.seen
    assert set(known) == made
    assert {sent for turn in native.seen for sent in turn} >= {envelope(one) for one in known.values()}
