"""Ways for the call of an agent to go: each is a run of its own, with a model that is a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.faults.case import EFFECTS, Case, Failure, Like, Success, Text

Deed = Literal["nothing", "cancel", "terminate", "cancel the call", "take its id"]
"""What an operator does: to the agent's run once it is at work, to its call, or before there is any."""

Steps = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class SubAgentCase:
    """One call of one agent; the agent's name is the case's tool."""

    case: Case
    steps: Steps
    """What its model does."""
    front: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is in the front matter of its file beside model and description."""
    script: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its script holds beside the steps."""
    below: Steps | None = None
    """What the model of an agent does that it has for its only tool, `below`; None where it has none."""
    deed: Deed = "nothing"


ANSWERS: Steps = ({"say": "Well."},)
ACTS: Steps = ({"call": [{"bash": {"command": f'echo "$SUREFOOT_CALL_ID" >> {EFFECTS}'}}]}, *ANSWERS)
WAITS: Steps = ({"say": "Late.", "delay_seconds": 60},)
ASKS_BELOW: Steps = ({"call": [{"BELOW": {"prompt": "Begin."}}]}, {"say": "{{outcomes}}"})
SLEEPS: Steps = (
    {"call": [{"bash": {"command": f'echo "$SUREFOOT_CALL_ID" >> {EFFECTS}; sleep 60'}}]},
    *ANSWERS,
)
VALUES = {"outputSchema": {"type": "array", "items": {"type": "integer"}}}

NOT_CALLED = "Tool 'x' was not called, its params are invalid: "
CANCELLED = Failure("TOOL_CANCELLED", None, "Tool 'x' was cancelled by an operator")


def said(answer: object, *, turns: int = 1, reason: str | None = None, **more: object) -> Success:
    status = "limit_reached" if reason else "completed"
    return Success({"status": status, "answer": answer, "reason": reason, "turns": turns, **more})


def failed(reason: str) -> Failure:
    return Failure("TOOL_CRASHED", None, Like(f"Tool 'x' crashed: its run failed: {reason}"))


def agent(
    name: str,
    sees: Failure | Success,
    steps: Steps = ANSWERS,
    *,
    effects: int = 0,
    params: Mapping[str, str] | None = None,
    **more: Any,  # noqa: ANN401  the fields of `SubAgentCase`
) -> SubAgentCase:
    given: dict[str, Any] = {"prompt": "Begin."} if params is None else dict(params)
    case = Case(name, None, sees, given, None, side_effects=effects, within_seconds=30)
    return SubAgentCase(case, steps, **more)


def told_below(pattern: str) -> Text:
    """What an agent says that says what it was told of the one below it."""
    return Like(rf".*{pattern}.*")


SUB_AGENT_CASES = (
    agent("agent answers", said("Well.")),
    agent("agent acts and answers", said("Well.", turns=2), ACTS, effects=1),
    agent("agent gives a value", said("[1]", output=[1]), ({"say": "[1]"},), front=VALUES),
    agent(
        "agent never gives the value", failed("the model keeps giving .*"), ({"say": "1"},) * 3, front=VALUES
    ),
    agent(
        "agent says too much",
        Success(
            {
                "status": "completed",
                "answer": Like(r"x+\n\.\.\. .*100KB limit.*"),
                "reason": None,
                "turns": 1,
                "truncated": True,
                "note": Like("`surefoot show .*/1-5` prints the whole answer"),
            }
        ),
        ({"say": "x" * 200_000},),
    ),
    agent(
        "agent reaches its limit of turns",
        said("So far.", turns=2, reason="limit of 1 turn"),
        ACTS,
        effects=1,
        front={"limits": {"maxTurns": 1}},
        script={"closing": {"say": "So far."}},
    ),
    agent(
        "agent runs out of time",
        said("So far.", turns=2, reason="time limit of 5s"),
        ({"call": [{"bash": {"command": "sleep 5.1"}}]}, *ANSWERS),
        front={"limits": {"maxTime": "5s"}},
        script={"closing": {"say": "So far."}},
    ),
    agent(
        "agent has a model that refuses",
        failed(".*the key was revoked.*"),
        ({"fail": {"refused": "the key was revoked"}},),
    ),
    agent(
        "agent has a model that nobody can read",
        failed("the model keeps giving replies that cannot be read: .*"),
        ({"unreadable": "half a reply", "repeat": 3}, *ANSWERS),
    ),
    agent(
        "agent does not have its caller's tools",
        said(told_below("TOOL_NOT_FOUND"), turns=2),
        ({"call": [{"agent-answers": {"prompt": "Begin."}}]}, {"say": "{{outcomes}}"}),
    ),
    agent(
        "agent asks another",
        said(told_below('"answer": ?"Well."'), turns=2),
        ASKS_BELOW,
        below=ACTS,
        effects=1,
    ),
    agent(
        "agent asks one that fails",
        said(told_below("TOOL_CRASHED"), turns=2),
        ASKS_BELOW,
        below=({"fail": {"refused": "no"}},),
    ),
    agent(
        "agent has nothing left for another",
        said(told_below("LIMIT_REACHED"), turns=2),
        ASKS_BELOW,
        below=ACTS,
        front={"limits": {"maxToolCalls": 1}},
    ),
    agent("agent is cancelled while it thinks", CANCELLED, WAITS, deed="cancel"),
    agent("agent is cancelled while its tool runs", CANCELLED, SLEEPS, deed="cancel", effects=1),
    agent(
        "agent is cancelled while another works for it",
        CANCELLED,
        ASKS_BELOW,
        below=SLEEPS,
        deed="cancel",
        effects=1,
    ),
    agent("call of an agent is cancelled", CANCELLED, WAITS, deed="cancel the call"),
    agent(
        "agent is terminated",
        Failure(
            "TOOL_LOST",
            None,
            "Tool 'x' was lost: its run was terminated; it may or may not have taken effect",
        ),
        WAITS,
        deed="terminate",
    ),
    agent(
        "agent has an id that is taken",
        Failure(
            "TOOL_CRASHED",
            None,
            Like("Tool 'x' could not be started: a run with the id '.*/1-19' has not ended"),
        ),
        ACTS,
        deed="take its id",
    ),
    agent(
        "agent is asked for nothing",
        Failure("INVALID_PARAMS", None, f"{NOT_CALLED}prompt: required, and missing"),
        ACTS,
        params={},
    ),
    agent(
        "agent is asked with blanks",
        Failure("INVALID_PARAMS", None, f"{NOT_CALLED}prompt: the prompt is empty"),
        ACTS,
        params={"prompt": " \n"},
    ),
)
"""All are called side by side, in this order."""
