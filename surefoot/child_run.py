"""The run that answers the call of an agent: what it is started with."""

from pydantic import ValidationError

from surefoot.admission import Admitted
from surefoot.after_untrusted import both
from surefoot.failures import invalid_params, not_started
from surefoot.limits import Limits
from surefoot.markdown import code
from surefoot.outcome import ToolFailure
from surefoot.run import RunInput
from surefoot.spent import Used
from surefoot.static_details import static_details
from surefoot.sub_agent import SubAgent
from surefoot.untrusted import UntrustedSource
from surefoot.wire import WireModel

CHILD_USED_SIGNAL = "child_used"

MAX_WORKFLOW_ID_BYTES = 1_000
"""What the server takes; one that is longer fails the workflow task that asks for it, for ever."""

PROMPT = "prompt"
"""The one parameter of a tool that is an agent."""


class ChildUsed(WireModel):
    """The argument of the `child_used` signal: what a cancelled run used, which a cancellation cannot say."""

    workflow_id: str
    used: Used


def child_id(caller_id: str, tool_exec_id: str) -> str:
    """Name the run that answers a call: for people and the UI, it stands below its caller."""
    return f"{caller_id}/{tool_exec_id}"


def child_run(
    caller: RunInput,
    call: Admitted,
    agent: SubAgent,
    limits: Limits,
    *,
    workflow_id: str,
    untrusted: UntrustedSource | None = None,
) -> RunInput | ToolFailure:
    """Give what the run of an agent starts with; where nothing may be started with it, the failure.

    `untrusted` is what its caller has read: the prompt may be made of it.
    """
    tool = call.definition.name
    if (size := len(workflow_id.encode())) > MAX_WORKFLOW_ID_BYTES:
        reason = f"the id of its run would have {size:,} bytes, and {MAX_WORKFLOW_ID_BYTES:,} is the limit"
        return not_started(tool, None, reason)
    prompt = call.params.get(PROMPT)
    if isinstance(prompt, str) and not prompt.strip():
        # A run of its own may begin without one, and wait for messages.
        return invalid_params(tool, [f"{PROMPT}: the prompt is empty"])
    try:
        return RunInput.model_validate(
            {
                "prompt": prompt,
                "model": agent.model or caller.model,
                "protocol": agent.protocol or caller.protocol,
                "system": agent.system,
                "limits": limits,
                "output_schema": agent.output_schema,
                "model_patience": caller.model_patience,
                "on_model_failure": caller.on_model_failure,
                "on_approval": caller.on_approval,
                "approval_seconds": caller.approval_seconds,
                "approval": agent.approval,
                "approve": caller.approve,
                "authority": caller.authority,
                "after_untrusted": both(caller.after_untrusted, agent.after_untrusted),
                "untrusted": untrusted and untrusted.model_copy(update={"of_caller": True}),
                "network": False if caller.network is False else agent.network,
                "chain": caller.chain,
                "model_queue": caller.model_queue,
                # Its end is its caller's business.
                "notify": tuple(what for what in caller.notify if what != "ended"),
                "agent": agent.key,
                "agent_name": tool,
                "tells_parent": True,
                "search_attributes": caller.search_attributes,
                "error_codes_attribute": caller.error_codes_attribute,
            }
        )
    except ValidationError as error:
        return _refused(tool, error)


def child_details(caller_id: str, tool_exec_id: str, run: RunInput, tool: str) -> str:
    """Say in markdown what a run is for, to who looks at it in the UI."""
    asked = f"**{tool}**, asked by {code(caller_id, 120)} in call `{tool_exec_id}` · model {code(run.model)}"
    return f"{asked}\n\n{static_details(run)}"


def _refused(tool: str, error: ValidationError) -> ToolFailure:
    first = error.errors()[0]
    reason = first["msg"].removeprefix("Value error, ")
    if first["loc"][:1] == (PROMPT,):
        return invalid_params(tool, [f"{PROMPT}: {reason}"])
    field = ".".join(str(step) for step in first["loc"])
    return not_started(tool, None, f"{field}: {reason}" if field else reason)
