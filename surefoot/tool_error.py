"""What a function tool raises to say that its operation failed, and why."""

from typing import Literal

FunctionErrorCode = Literal[
    "external_service_error",
    "rate_limited",
    "timeout",
    "not_found",
    "invalid_input",
    "internal_error",
]
"""Why the operation of a function tool failed (seeds/001)."""


class ToolError(Exception):
    """The operation failed: the model reads `error` and `error_code`, and decides what to do.

    `fields` are fields of the tool's own answer that are known all the same; the others are empty.
    """

    def __init__(
        self, error: str, error_code: FunctionErrorCode = "internal_error", **fields: object
    ) -> None:
        super().__init__(error)
        self.error = error
        self.error_code: FunctionErrorCode = error_code
        self.fields = fields
