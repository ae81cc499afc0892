"""What Surefoot reads from its environment: the SUREFOOT_ variables, checked once."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from surefoot.run import ModelPatience
from workers.setting_values import (
    AbsolutePaths,
    BuildName,
    CommandLine,
    DatabaseDirectory,
    HttpUrl,
    ListeningAddress,
    Pause,
    Period,
    PlainName,
    PublicKeys,
    Resolved,
    StoreLocation,
)

PREFIX = "SUREFOOT_"


class SettingsError(ValueError):
    """One sentence on a setting that cannot be used; the same settings will fail again."""


def _default_state_directory() -> Path:
    configured = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (configured if configured.is_absolute() else Path("~/.local/state")) / "surefoot"


class Settings(BaseSettings):
    """Every setting, from keyword arguments first, then SUREFOOT_<NAME>, then its default.

    Durations are given in seconds. An empty variable counts as unset. `load_settings` turns what
    does not validate into one sentence.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, validate_default=True, extra="forbid"
    )

    state_directory: DatabaseDirectory = Field(default_factory=_default_state_directory)
    """Where the embedded server keeps its database: XDG_STATE_HOME or ~/.local/state, then `surefoot`."""
    store: StoreLocation | None = None
    """Where artifacts and long conversations are kept: a directory, or s3://BUCKET/PREFIX.

    Unset, it is `store` in the state directory. The `AWS_` variables say how S3 is reached.
    """
    workspaces: Resolved | None = None
    """Where runs that have a directory of their own have it; unset, `workspaces` in the state directory."""
    server_binary: Path | None = None
    """The `temporal` executable of the embedded server; unset, it is looked for."""
    model: str | None = None
    """The model of a run that names none."""
    prices: Path | None = None
    """A file of the user's own prices, in JSON or TOML (docs/limits.md)."""
    ui_url: str | None = None
    """Where the UI of a server that was named is, for links; nobody else can know."""
    task_queue: Annotated[str, Field(min_length=1, max_length=1000)] = "surefoot"
    """The task queue of runs and workers that name none, on a server that was named."""

    heartbeat_output_interval: Period = timedelta(seconds=0.5)
    """The least time between two heartbeats of a tool that is printing."""
    heartbeat_idle_interval: Period = timedelta(seconds=1)
    """The time between two heartbeats of a tool that is silent."""
    heartbeat_throttle: Period = timedelta(seconds=1)
    """The least time between two heartbeats sent to the server; a cancel arrives this late."""
    tool_grace: Period = timedelta(seconds=5)
    """How long after its own deadline a tool execution may take to be killed and drained."""
    graceful_shutdown_timeout: Pause = timedelta(seconds=10)
    """How long a worker that stops lets its activities finish before it interrupts them."""
    max_concurrent_activities: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Tool executions and model turns that one worker carries out side by side."""
    max_concurrent_workflow_tasks: Annotated[int, Field(ge=2, le=10_000)] = 100
    """Workflow tasks that one worker carries out side by side."""

    sandbox: Literal["auto", "required", "bwrap", "landlock", "none"] = "auto"
    """What executables are walled in by (docs/sandbox.md): `auto` is the strongest that works here."""
    sandbox_read: AbsolutePaths = ""
    """What every walled-in executable may read beside what it sees anyway: absolute paths with : between."""

    notify_command: CommandLine | None = None
    """What a worker runs to tell people of a run that asks for it; it reads the notice from stdin."""
    notify_url: HttpUrl | None = None
    """Where a worker posts notices to instead."""
    notify_secret: str | None = Field(default=None, repr=False)
    """What a worker signs the notices with that it posts."""

    encryption_keys: str | None = Field(default=None, repr=False)
    """The keys of what runs say, as ID:KEY; the first encrypts, all decrypt (docs/encryption.md)."""
    encryption_keys_file: Resolved | None = None
    """A file of such keys instead."""

    authority: PublicKeys | None = None
    """Public keys: the runs that are started take no decision on a call that none of them signed."""
    authority_file: Path | None = None
    """A file of such keys instead."""
    authority_key_file: Path | None = None
    """The private key that decisions are signed with that are made here, in PEM."""

    codec_token: str | None = Field(default=None, repr=False)
    """The bearer token that `surefoot codec-server` wants to see (docs/codec-server.md)."""
    codec_oidc_issuer: HttpUrl | None = None
    """The OpenID Connect issuer whose tokens it takes; only with `codec_oidc_audience`."""
    codec_oidc_audience: str | None = None
    """Whom these tokens have to be for."""
    codec_requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = 3000
    """How often each caller may ask it; a page of the UI asks once for every value that it shows."""

    deployment: PlainName | None = None
    """The deployment that a worker belongs to; only with `build_id`."""
    build_id: BuildName | None = None
    """The version of the code that a worker serves; only with `deployment`."""

    metrics_address: ListeningAddress | None = None
    """Where `surefoot worker` and `surefoot dev` answer Prometheus: an IP address and a port."""
    trace_content: bool = False
    """Whether traces hold prompts, answers, arguments and results, too (docs/observability.md)."""

    model_streaming: bool = True
    """Whether a provider is asked for its replies in pieces, which can be seen while they are written."""
    model_attempt_timeout: Period = timedelta(minutes=10)
    """How long one request to a model may take."""
    model_longest_pause: Period = timedelta(minutes=5)
    """The longest pause before a model that does not answer is asked again."""
    model_total_timeout: Period = timedelta(hours=6)
    """How long one turn keeps asking before the run fails."""

    @property
    def workspaces_location(self) -> Path:
        """An absolute path."""
        return self.workspaces or self.state_directory / "workspaces"

    @property
    def store_location(self) -> str:
        """An absolute path, or s3://BUCKET/PREFIX."""
        return self.store or str(self.state_directory / "store")

    @model_validator(mode="after")
    def _name_a_whole_version(self) -> Self:
        if (self.deployment is None) != (self.build_id is None):
            raise ValueError(f"{PREFIX}DEPLOYMENT and {PREFIX}BUILD_ID only go together: set both or neither")
        return self

    @model_validator(mode="after")
    def _name_issuer_and_audience(self) -> Self:
        if (self.codec_oidc_issuer is None) != (self.codec_oidc_audience is None):
            raise ValueError(
                f"{PREFIX}CODEC_OIDC_ISSUER and {PREFIX}CODEC_OIDC_AUDIENCE only go together: "
                "set both or neither"
            )
        return self

    @model_validator(mode="after")
    def _notify_in_one_way(self) -> Self:
        if self.notify_command is not None and self.notify_url is not None:
            raise ValueError(f"{PREFIX}NOTIFY_COMMAND and {PREFIX}NOTIFY_URL exclude each other: set one")
        return self

    @model_validator(mode="after")
    def _have_keys_in_one_place(self) -> Self:
        if self.encryption_keys is not None and self.encryption_keys_file is not None:
            raise ValueError(
                f"{PREFIX}ENCRYPTION_KEYS and {PREFIX}ENCRYPTION_KEYS_FILE exclude each other: set one"
            )
        return self

    @model_validator(mode="after")
    def _name_one_authority(self) -> Self:
        if self.authority is not None and self.authority_file is not None:
            raise ValueError(f"{PREFIX}AUTHORITY and {PREFIX}AUTHORITY_FILE exclude each other: set one")
        return self

    def model_patience(self) -> ModelPatience:
        """Give a run's input what these settings say on a model that does not answer."""
        return ModelPatience(
            attempt_seconds=self.model_attempt_timeout.total_seconds(),
            longest_pause_seconds=self.model_longest_pause.total_seconds(),
            total_seconds=self.model_total_timeout.total_seconds(),
        )


def load_settings() -> Settings:
    """Read the environment; raises SettingsError with one sentence that names every bad variable."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError("; ".join(_complaint(detail) for detail in error.errors())) from None


def _complaint(detail: ErrorDetails) -> str:
    if not detail["loc"]:
        return detail["msg"].removeprefix("Value error, ")
    name = PREFIX + "_".join(str(part) for part in detail["loc"]).upper()
    reason = detail["msg"].removeprefix("Value error, ")
    return f"{name} is {str(detail['input'])!r}: {reason}"
