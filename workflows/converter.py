"""How values and failures cross Temporal, on workers and clients alike."""

from collections.abc import Sequence
from typing import Any, NoReturn

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    EncodingPayloadConverter,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError

from surefoot.outcome import ERROR_CODES
from workflows.payloads import UNDECODABLE, UnreadableError


class _Unreadable(EncodingPayloadConverter):
    """Says why, to those who need the value of such a payload."""

    @property
    def encoding(self) -> str:
        return UNDECODABLE.decode()

    def to_payload(self, value: object) -> None:  # noqa: ARG002  the SDK gives it by this name
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> NoReturn:  # noqa: ARG002  here, too
        raise UnreadableError(payload.data.decode("utf-8", "replace"))


class OurPayloadConverter(PydanticPayloadConverter):
    """Values as JSON by pydantic, and what stands for a payload that could not be decrypted."""

    def __init__(self) -> None:
        """Know one more encoding than pydantic's."""
        super().__init__()
        self.converters = {**self.converters, UNDECODABLE: _Unreadable()}


class _Lenient(PayloadConverter):
    """Gives None for a payload that cannot be decoded."""

    def __init__(self, strict: PayloadConverter) -> None:
        self._strict = strict

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        return self._strict.to_payloads(values)

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        hints = [*(type_hints or []), *[object] * len(payloads)]
        return [self._value(payload, hint) for payload, hint in zip(payloads, hints, strict=False)]

    def _value(self, payload: Payload, type_hint: type) -> object:
        try:
            return self._strict.from_payloads([payload], [type_hint])[0]
        except (KeyError, RuntimeError, TypeError, UnreadableError, ValueError):
            return None


class LenientFailureConverter(DefaultFailureConverter):
    """Reads a failure whatever its details are, and writes a tool's without a trace of our own code.

    They are decoded before the awaiting code runs, so that details which an executor garbled would fail
    the workflow task, and with it the run, where no `try` can see it.
    """

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        """Convert an exception; what a tool failed with stands in its message and its details."""
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, ApplicationError) and exception.type in ERROR_CODES:
            failure.stack_trace = ""

    def from_failure(self, failure: Failure, payload_converter: PayloadConverter) -> BaseException:
        """Convert a failure; details that cannot be decoded are None."""
        return super().from_failure(failure, _Lenient(payload_converter))


DATA_CONVERTER = DataConverter(
    payload_converter_class=OurPayloadConverter, failure_converter_class=LenientFailureConverter
)
"""What every converter of ours is made of; `workers.encryption` adds the keys of the settings to it."""
