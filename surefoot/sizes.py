"""The size caps of the tool boundary, in bytes of UTF-8 JSON without ASCII escapes.

The server rejects a payload above 2 MiB and a message above 4 MiB, and neither rejection can be caught
by a workflow; these caps keep everything that crosses the boundary well below them.
"""

MAX_PARAMS_BYTES = 1024 * 1024
MAX_ANSWER_BYTES = 1024 * 1024
MAX_TURN_INPUTS_BYTES = 1536 * 1024

MAX_ANSWER_VALUES = 50_000
"""JSON values in one answer: a mebibyte of nothing but brackets keeps a workflow busy for more than the two
seconds that it has, and a run whose workflow is not done by then is wedged."""

MAX_ERROR_BYTES = 2048
MAX_DEFINITIONS_BYTES = 1024 * 1024
MAX_INPUT_DEFINITIONS_BYTES = 256 * 1024
"""Definitions in a run's input, beside a prompt and a system prompt as large as they may be."""

MAX_PROMPT_BYTES = 1024 * 1024
MAX_SYSTEM_BYTES = 256 * 1024
MAX_OUTPUT_SCHEMA_BYTES = 64 * 1024
MAX_OUTPUT_BYTES = 768 * 1024
"""A structured answer, as the model wrote it and again as the value that it is: a result carries both."""

MAX_REPLY_BYTES = 1792 * 1024
"""A model's whole reply: params above their own caps have room in it, so that the model is told of them."""

MAX_NEW_MESSAGES_BYTES = 256 * 1024
"""New messages of a turn beyond this travel by query, not in the turn's input."""

MAX_QUERY_PAGE_BYTES = 384 * 1024
"""One page of a query's answer; the server warns above 512 KiB and refuses answers above 2 MiB."""

MAX_TURN_ANSWERS_BYTES = 16 * 1024 * 1024
"""All answers of one turn; calls that have not been made when they are this large are not made any more."""

MAX_HISTORY_BYTES = 46 * 1024 * 1024
"""What the answers of a turn may grow a history to: the server terminates a run whose history is 50 MiB."""

MAX_CARRIED_MESSAGES_BYTES = 256 * 1024
"""Messages that a run takes along when it continues as new; more of them wait in a store."""

MAX_CARRIED_TEXT_BYTES = 64 * 1024
"""What is carried of the last text that the model said."""

MAX_MESSAGE_BYTES = 64 * 1024
MAX_SENDER_CHARACTERS = 200
MAX_REASON_CHARACTERS = 2_000
"""Why somebody pauses a run or raises a limit, in their words."""
MAX_APPROVALS_BYTES = 16 * 1024
"""The rules of a run on approval: each run of an agent that it calls is given them, too."""
MAX_APPROVAL_REASON_CHARACTERS = 1_000
"""Why somebody denies a call, as the model reads it within the limit of an error."""
MAX_WAITING_MESSAGES = 32
MAX_WAITING_BYTES = 128 * 1024
"""Messages that wait for the model's next turn; a run that continues as new takes them along."""

MAX_REDUCERS = 16
MAX_SLICE_BYTES = 64 * 1024
MAX_SLICES_BYTES = 128 * 1024
"""The states of all slices together: a run that continues as new takes them along."""
MAX_KEPT_SLICES = 32
"""Slices of a run, those included whose reducers are gone."""

MAX_CALLS_IN_FLIGHT = 32
"""Tool calls of one run that are scheduled at once: about 2,000 pending activities wedge a run."""


def count(size_bytes: int) -> str:
    """Print a size for people: `10KB` for whole kilobytes, `1MB` for whole megabytes, else `1,234 bytes`."""
    if size_bytes and size_bytes % (1024 * 1024) == 0:
        return f"{size_bytes // (1024 * 1024)}MB"
    if size_bytes and size_bytes % 1024 == 0:
        return f"{size_bytes // 1024}KB"
    return f"{size_bytes:,} bytes"
