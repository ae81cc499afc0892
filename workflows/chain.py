"""Continues a run as new before its history grows too long: the same run to everybody who watches it."""

from collections.abc import Callable
from typing import NoReturn

from temporalio import workflow
from temporalio.workflow import ContinueAsNewVersioningBehavior

from surefoot.carried import Carried, pack
from surefoot.run import ChainLimits, RunInput
from surefoot.truncation import truncate

_SHOWN_PROMPT_BYTES = 2048


def is_due(limits: ChainLimits, *, updates: int) -> bool:
    """Tell whether the history of this run is long enough; `updates` is how many it took."""
    info = workflow.info()
    due = (
        info.is_continue_as_new_suggested()
        # Its worker's version is not the current one any more, and would have to be kept for it.
        or info.is_target_worker_deployment_version_changed()
        or info.get_current_history_length() >= limits.max_events
        or info.get_current_history_size() >= limits.max_bytes
        or updates >= limits.max_updates
    )
    # Runs of earlier code went on past this point, and must do so when they are replayed.
    return due and workflow.patched("continue-as-new")


async def go_on_as_new(run: RunInput, carry: Callable[[], Carried]) -> NoReturn:
    """End this run of the chain and begin the next; no update is left unanswered.

    What is carried is asked for last, when nothing can add to it any more.
    """
    await workflow.wait_condition(workflow.all_handlers_finished)
    following = run.model_copy(
        update={
            # The whole prompt is in the conversation, with the system prompt.
            "prompt": truncate(run.prompt, _SHOWN_PROMPT_BYTES).text,
            "system": None,
            "tools": None,
            "carried": pack(carry()),
        }
    )
    workflow.continue_as_new(following, initial_versioning_behavior=_versioning())


def _versioning() -> ContinueAsNewVersioningBehavior | None:
    """A pinned run moves to the current version of its workers here, where nothing has to be replayed."""
    pinned = workflow.info().get_current_deployment_version() is not None
    return ContinueAsNewVersioningBehavior.AUTO_UPGRADE if pinned else None
