"""What every client and worker of ours reads and writes with: encrypted where there is a key."""

import dataclasses

from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter, PayloadConverter

from workers.encryption.codec import EncryptionCodec
from workers.encryption.configured_keys import configured_keys
from workers.encryption.keys import Keyring, KeyUnknownError, NotAuthenticError
from workers.settings import Settings
from workflows.converter import DATA_CONVERTER, LenientFailureConverter
from workflows.payloads import UnreadableError

ENCODED_FAILURE = "Encoded failure"
"""What stands in place of a failure's message: the words of Temporal's SDKs."""

# By name: a workflow's sandbox has classes of its own.
_READABLE = {one.__name__ for one in (UnreadableError, KeyUnknownError, NotAuthenticError)}


class EncodedFailureConverter(LenientFailureConverter):
    """Moves messages and traces of failures to where the codec encrypts them; their types stay plain."""

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        """Convert an exception; one that names a key must be read by those who lack it."""
        super().to_failure(exception, payload_converter, failure)
        if failure.application_failure_info.type in _READABLE:
            failure.stack_trace = ""
            return
        hidden = {"message": failure.message, "stack_trace": failure.stack_trace}
        failure.encoded_attributes.CopyFrom(payload_converter.to_payloads([hidden])[0])
        failure.message = ENCODED_FAILURE
        failure.stack_trace = ""


def data_converter(settings: Settings) -> DataConverter:
    """Give the converter of these settings; raises SettingsError if their keys cannot be used."""
    return encrypting(configured_keys(settings))


def encrypting(keyring: Keyring) -> DataConverter:
    """Give a converter that encrypts with a ring's first key; without one it only names the keys it lacks."""
    return dataclasses.replace(
        DATA_CONVERTER,
        payload_codec=EncryptionCodec(keyring),
        failure_converter_class=EncodedFailureConverter if keyring else LenientFailureConverter,
    )
