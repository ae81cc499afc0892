"""How an executor says that it does not know an activity: each SDK has words of its own."""

import re

from temporalio.exceptions import ApplicationError

# A tool may well raise errors with these names, so that only the SDK's words about this very tool count.
_WORDINGS = {
    # Python, TypeScript, .NET and Ruby.
    "NotFoundError": re.compile(
        r"Activity (?:function )?(?P<tool>[\w-]+) (?:for workflow .* )?is not registered on this [Ww]orker"
    ),
    "ActivityNotRegisteredError": re.compile(
        r"unable to find activityType=(?P<tool>[\w-]+)\. Supported types: "
    ),
    "java.lang.IllegalArgumentException": re.compile(
        r'Activity Type "(?P<tool>[\w-]+)" is not registered with a worker'
    ),
}


def is_unknown_to_executor(error: ApplicationError, tool: str) -> bool:
    """Tell whether an SDK, and not the tool itself, says that there is no such activity on its worker."""
    wording = _WORDINGS.get(error.type or "")
    said = wording.match(error.message) if wording is not None else None
    return said is not None and said["tool"] == tool
