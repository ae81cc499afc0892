"""What a run tells its model in the user's role."""

from surefoot.truncation import truncate

_MAX_PARAMS_BYTES = 4096
_PLAINLY = "and say plainly what is missing or uncertain"


def closing_text(limit: str, *, structured: bool = False) -> str:
    """Tell the model, in the user's role, to answer with what it has."""
    answer = "as one JSON value that fits the output schema" if structured else _PLAINLY
    return (
        f"The {limit} is reached, and no more tools can be called. Answer now with what you have, {answer}."
    )


def correction_text(reason: str) -> str:
    """Tell the model, in the user's role, that its reply could not be read."""
    return f"Your last reply could not be read: {reason}. Reply again."


def misfit_text(reason: str) -> str:
    """Tell the model, in the user's role, that its final answer does not fit the output schema."""
    return (
        f"Your last reply was taken as your final answer, and does not fit the output schema: {reason}. "
        "Reply again: with nothing but one JSON value that fits, or with tool calls if you are not done."
    )


def edited_text(number: int, tool: str, params: str) -> str:
    """Tell the model, in the user's role, with what its call was made in place of what it asked for.

    `number` is the call's in the last reply, counted from 1, and `params` is JSON.
    """
    shown = truncate(params, _MAX_PARAMS_BYTES).text
    return (
        f"An operator changed the arguments of call {number} of your last reply, of the tool '{tool}': "
        f"it was made with {shown}, and its outcome is of that."
    )
