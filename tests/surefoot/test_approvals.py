"""Questions about calls, and the decisions that are taken about them."""

from collections.abc import Mapping
from typing import TypeGuard

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.admission import Admitted, Refused, admit
from surefoot.approvals import Approved, Denied, Question, Questions, params_sha256
from surefoot.conversation import ToolCall
from surefoot.definition import ToolDefinition
from surefoot.run import Approve, Deny, RunInput

RUN = RunInput(prompt="p", model="m")
TOOLS = ("rm", "mv", "ls")
RULES = {"rm": "always", "mv": "first-use", "ls": "never"}
DEFINITIONS = tuple(
    ToolDefinition.model_validate(
        {
            "name": name,
            "description": "d",
            "inputSchema": {"properties": {"n": {"type": "integer"}}},
            "approval": RULES[name],
        }
    )
    for name in TOOLS
)
PARAMS: st.SearchStrategy[dict[str, JsonValue]] = st.fixed_dictionaries({"n": st.integers(0, 2)})
CALLS = st.lists(st.tuples(st.sampled_from(TOOLS), PARAMS), max_size=4)
IDS = st.builds("{}-{}".format, st.integers(1, 2), st.integers(1, 4))


def decisions(turn: int, calls: list[tuple[str, dict[str, JsonValue]]]) -> dict[str, Admitted | Refused]:
    asked = [ToolCall(id=f"c{n}", tool=tool, params=params) for n, (tool, params) in enumerate(calls, 1)]
    return {f"{turn}-{n}": one for n, one in enumerate(admit(asked, DEFINITIONS), 1)}


def is_admitted(decision: Admitted | Refused) -> TypeGuard[Admitted]:
    return isinstance(decision, Admitted)


class Operators:
    """People, or machines, who send decisions of any kind; what was taken of them is noted."""

    def __init__(self) -> None:
        self.questions = Questions()
        self.approved: dict[str, JsonValue] = {}
        self.tools: set[str] = set()

    def send(self, asked: Mapping[str, Question], request: Approve) -> None:
        if self.questions.why_not_approve(request) is not None:
            return
        question = asked[request.tool_exec_id]
        assert params_sha256(question.call.params) == request.params_sha256
        self.approved[request.tool_exec_id] = request.params or question.call.params
        if request.scope == "run" or question.tool == "mv":
            self.tools.add(question.tool)
        self.questions = self.questions.approve(request)

    def refuse(self, request: Deny) -> None:
        if self.questions.why_not_deny(request) is None:
            self.questions = self.questions.deny(request.tool_exec_id, Denied(request.reason))

    def may_be_made_with(self, question: Question) -> JsonValue:
        if question.tool_exec_id in self.approved:
            return self.approved[question.tool_exec_id]
        return question.call.params if question.tool in self.tools else None


APPROVALS = st.builds(
    Approve,
    tool_exec_id=IDS,
    params_sha256=PARAMS.map(params_sha256),
    scope=st.sampled_from(["once", "run"]),
    params=st.none() | PARAMS | st.sampled_from([{"n": "x"}, "x"]),
)
DENIALS = st.builds(Deny, tool_exec_id=IDS, params_sha256=PARAMS.map(params_sha256), reason=st.just("r"))


@settings(max_examples=300)
@given(st.lists(st.tuples(CALLS, st.lists(APPROVALS | DENIALS, max_size=6)), max_size=3))
def test_no_call_that_needs_approval_is_made_without_one_of_exactly_its_params(
    turns: list[tuple[list[tuple[str, dict[str, JsonValue]]], list[Approve | Deny]]],
) -> None:
    operators = Operators()
    for turn, (calls, sent) in enumerate(turns, 1):
        named = decisions(turn, calls)
        operators.questions = operators.questions.begin_turn(RUN, named)
        asked = dict(operators.questions.open)
        unasked = {one.definition.name for n, one in named.items() if n not in asked and is_admitted(one)}
        assert unasked <= {"ls"} | operators.tools
        for request in sent:
            if isinstance(request, Approve):
                operators.send(asked, request)
            else:
                operators.refuse(request)
        for name, decision in operators.questions.decisions.items():
            if isinstance(decision, Approved):
                assert decision.call.params == operators.may_be_made_with(asked[name])


def test_the_hash_does_not_depend_on_the_order_of_fields() -> None:
    assert params_sha256({"a": 1, "b": "ü"}) == params_sha256({"b": "ü", "a": 1})
    assert params_sha256({"a": 1}) != params_sha256({"a": "1"})


def test_edited_params_need_room_among_those_of_the_turn() -> None:
    manifest: dict[str, JsonValue] = {"name": "rm", "description": "d", "inputSchema": {}}
    definition = ToolDefinition.model_validate({**manifest, "approval": "always"})
    calls = [ToolCall(id=f"c{n}", tool="rm", params={"x": "y" * size}) for n, size in ((1, 900_000), (2, 1))]
    named = {f"1-{n}": one for n, one in enumerate(admit(calls, [definition]), 1)}
    questions = Questions().begin_turn(RUN, named)
    request = Approve(
        tool_exec_id="1-2",
        params_sha256=questions.open["1-2"].params_sha256,
        params={"x": "y" * 900_000},
    )

    assert questions.why_not_approve(request) == (
        "with these params those of the turn's calls would be above the limit of 1536KB"
    )
