"""The store that the settings name: a directory, or a bucket of an S3-compatible service."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from activities.store.directory import DirectoryStore
from activities.store.sealed import SealedStore
from activities.store.store import Store
from workers.encryption.configured_keys import configured_keys
from workers.encryption.objects import ObjectCipher
from workers.setting_values import is_s3_url
from workers.settings import Settings, SettingsError

S3_VARIABLES = {
    "AWS_ACCESS_KEY_ID": "access_key_id",
    "AWS_SECRET_ACCESS_KEY": "secret_access_key",
    "AWS_SESSION_TOKEN": "session_token",
    "AWS_DEFAULT_REGION": "region",
    "AWS_REGION": "region",
    "AWS_ENDPOINT_URL": "endpoint",
    "AWS_ENDPOINT_URL_S3": "endpoint",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "virtual_hosted_style_request",
    "AWS_ROLE_ARN": "role_arn",
    "AWS_ROLE_SESSION_NAME": "role_session_name",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "web_identity_token_file",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "container_credentials_relative_uri",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "container_credentials_full_uri",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "container_authorization_token_file",
}
"""What is read of the environment for S3, and what the library calls it; of two for one, the later counts."""

_TIMEOUT = timedelta(seconds=30)
_CONNECT_TIMEOUT = timedelta(seconds=3)
_RETRIES = 3
_RETRY_TIMEOUT = timedelta(seconds=10)


def open_store(settings: Settings, environment: Mapping[str, str]) -> Store:
    """Give the store of these settings, without touching it: whether it can be used, its first use tells.

    What is put there is encrypted where the settings name keys. Credentials, region and endpoint of S3 are
    in the `AWS_` variables of `environment`.

    Raises:
        SettingsError: the S3 variables or the keys cannot be used.
    """
    cipher, location = ObjectCipher(configured_keys(settings)), settings.store_location
    kept = _open_bucket(location, environment) if is_s3_url(location) else DirectoryStore(Path(location))
    return SealedStore(kept, cipher)


def _open_bucket(url: str, environment: Mapping[str, str]) -> Store:
    # The library takes 16 MB: only those who use a bucket have it in memory.
    from obstore.exceptions import BaseError
    from obstore.store import S3Store

    from activities.store.bucket import BucketStore

    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    given = {
        name: environment[variable] for variable, name in S3_VARIABLES.items() if environment.get(variable)
    }
    try:
        objects = S3Store(
            bucket,
            prefix=prefix or None,
            config=given,  # pyright: ignore[reportArgumentType]  a dictionary whose names are only known here
            client_options={
                "timeout": _TIMEOUT,
                "connect_timeout": _CONNECT_TIMEOUT,
                "allow_http": given.get("endpoint", "").startswith("http://"),
            },
            retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRY_TIMEOUT},
        )
    except (BaseError, ValueError):
        # The library's own words may quote what it was given.
        raise SettingsError(f"the AWS_ variables do not make a client for {url}") from None
    return BucketStore(objects, location=url)
