"""How failures cross Temporal."""

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.exceptions import ApplicationError

from workflows.converter import DATA_CONVERTER


@pytest.mark.parametrize(
    ("error_type", "traced"),
    [
        pytest.param("TOOL_CRASHED", False, id="of a tool"),
        pytest.param("MODEL_UNAVAILABLE", True, id="of a model"),
        pytest.param(None, True, id="of nobody that we know"),
    ],
)
async def test_only_a_failure_of_a_tool_has_no_trace_of_our_code(
    error_type: str | None, traced: bool
) -> None:
    failure = Failure()
    try:
        raise ApplicationError("it failed", {"exit_code": 1}, type=error_type)
    except ApplicationError as error:
        await DATA_CONVERTER.encode_failure(error, failure)

    assert (failure.message, bool(failure.stack_trace)) == ("it failed", traced)
