"""Arbitrary values of the contract, for properties."""

from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from surefoot.definition import RESERVED_NAMES, ToolDefinition
from surefoot.outcome import ErrorCode, ToolFailure, ToolSuccess

TEXTS = st.text(max_size=30)
NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True).filter(lambda name: name not in RESERVED_NAMES)

JSON_VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
    ),
    lambda values: st.one_of(st.lists(values, max_size=4), st.dictionaries(TEXTS, values, max_size=4)),
    max_leaves=10,
)

SUCCESSES = st.builds(ToolSuccess, tool=TEXTS, result=JSON_VALUES)
FAILURES = st.builds(
    ToolFailure,
    error=TEXTS,
    error_code=st.sampled_from(ErrorCode.__args__),
    exit_code=st.none() | st.integers(0, 255),
    stdout=TEXTS,
    stderr=TEXTS,
)
OUTCOMES = st.one_of(SUCCESSES, FAILURES)

_FIELDS: dict[str, st.SearchStrategy[JsonValue]] = {
    "usage": st.none() | TEXTS,
    "outputSchema": st.sampled_from([None, {"type": "null"}]),
    "annotations": st.sampled_from([{}, {"readOnlyHint": True, "idempotentHint": False}]),
    "timeoutSeconds": st.floats(0.001, 86_400),
    "limits": st.sampled_from([{}, {"stdout": 128}, {"stdout": 10_240, "stderr": 65_536, "result": 2**20}]),
    "exclusive": st.booleans(),
    "executorQueue": st.sampled_from([None, "gpu"]),
    "heartbeatSeconds": st.none() | st.floats(1, 3_600),
}
_REQUIRED: dict[str, st.SearchStrategy[JsonValue]] = {
    "name": NAMES,
    "description": st.text(min_size=1, max_size=30),
    "inputSchema": st.just({"type": "object"}),
}
DEFINITIONS = st.fixed_dictionaries(_REQUIRED, optional=_FIELDS).map(ToolDefinition.model_validate)
CALLS = st.builds(ToolCall, id=TEXTS, tool=TEXTS, params=JSON_VALUES)
REPLIES = st.builds(
    AssistantMessage,
    text=TEXTS,
    reasoning=TEXTS,
    tool_calls=st.lists(CALLS, max_size=3).map(tuple),
    unreadable=st.none() | TEXTS,
    provider=st.none() | TEXTS,
    provider_state=JSON_VALUES,
)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(SystemMessage, text=TEXTS, tools=st.lists(DEFINITIONS, max_size=2).map(tuple)),
    st.builds(UserMessage, text=TEXTS, purpose=st.sampled_from(["prompt", "closing", "correction"])),
    REPLIES,
    st.builds(ToolMessage, call_id=TEXTS, tool=TEXTS, outcome=OUTCOMES, untrusted=st.booleans()),
)
