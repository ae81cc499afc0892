"""What the server tells of failures, where their messages may be encrypted."""

from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter
from temporalio.exceptions import FailureError

from workflows.payloads import UnreadableError

ENCRYPTED = "(encrypted with a key that is not here)"
"""What a list shows in place of a text that it cannot decrypt."""


async def message_of(failure: Failure, converter: DataConverter) -> str:
    """Give a failure's message; of one that cannot be decrypted, the first of its causes' that can be read.

    That is the one which names a missing key: no worker encrypts it.
    """
    # What decodes it changes it.
    decoded = Failure()
    decoded.CopyFrom(failure)
    try:
        error = await converter.decode_failure(decoded)
    except UnreadableError:
        return failure.cause.message if failure.HasField("cause") else ENCRYPTED
    return error.message if isinstance(error, FailureError) and failure.message else failure.message
