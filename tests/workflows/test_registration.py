import pytest
from temporalio.exceptions import ApplicationError

from workflows.registration import is_unknown_to_executor

JAVA = "java.lang.IllegalArgumentException"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        pytest.param(
            "NotFoundError",
            "Activity function x for workflow w is not registered on this worker, available activities: y",
            id="Python",
        ),
        pytest.param(
            "NotFoundError",
            'Activity function x is not registered on this Worker, available activities: ["y"]',
            id="TypeScript",
        ),
        pytest.param(
            "NotFoundError",
            "Activity x is not registered on this worker, available activities: y",
            id=".NET and Ruby",
        ),
        pytest.param(
            "ActivityNotRegisteredError", "unable to find activityType=x. Supported types: [y]", id="Go"
        ),
        pytest.param(
            JAVA, 'Activity Type "x" is not registered with a worker. Known types are: y', id="Java"
        ),
    ],
)
def test_every_sdk_is_understood_when_it_does_not_know_an_activity(kind: str, message: str) -> None:
    assert is_unknown_to_executor(ApplicationError(message, type=kind), "x")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        pytest.param("NotFoundError", "no such customer", id="an error with the name of the SDK's"),
        pytest.param(
            "NotFoundError", "the model x is not registered on this worker", id="an error with half the words"
        ),
        pytest.param(
            "NotFoundError",
            "Activity function y is not registered on this worker, available activities: x",
            id="another activity that the tool itself asked for",
        ),
        pytest.param(
            "LookupError", "Activity x is not registered on this worker", id="the words under another name"
        ),
        pytest.param(JAVA, "a port must be positive", id="an argument that is wrong in Java"),
        pytest.param("ActivityNotRegisteredError", "x", id="Go's name without its words"),
        pytest.param(None, "Activity x is not registered on this worker", id="no name at all"),
    ],
)
def test_what_a_tool_says_itself_is_no_missing_activity(kind: str | None, message: str) -> None:
    assert not is_unknown_to_executor(ApplicationError(message, type=kind), "x")
