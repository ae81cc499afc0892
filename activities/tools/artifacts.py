"""What of a tool call is too large for the model, kept whole in the store."""

import asyncio
import logging
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from activities.store.relay import relay
from activities.store.store import Store, StoreUnavailableError, is_key, key_part
from activities.tools.environment import ARTIFACTS_DIRECTORY, ARTIFACTS_SOCKET, STORE
from surefoot.artifact import ARTIFACT_FIELD_ENDING, ARTIFACTS, Excerpt, excerpt, excerpt_of_lost, not_kept
from surefoot.outcome import ToolSuccess
from surefoot.sizes import count
from surefoot.strict_json import encode_json, json_bytes

_log = logging.getLogger(__name__)

MAX_ARTIFACT_BYTES = 32 * 1024 * 1024
"""The largest file of a tool that is kept; it passes through the worker's memory."""

_MAX_NAME_LENGTH = 80
"""Characters of a file's name: it is a part of a part of a key."""

_SOCKET = ".store"
"""No name that a tool's file can have."""

_AT_ONCE = 4
"""How many artifacts are written side by side, for the same reason."""


@dataclass(frozen=True)
class CallArtifacts:
    """The artifacts of one call: their ids begin alike, and unlike those of any other call."""

    store: Store
    name: str
    """`<workflow id>/<tool_exec_id>-<6 random characters>`: a reset gives a tool_exec_id out again."""
    directory: Path | None
    """Where the tool may leave files; it is gone when the call is over. None: there is no room for any."""
    socket: Path | None
    """Where the tool may ask for artifacts; None where it can read their files."""
    _writing: asyncio.Semaphore
    _hide: Callable[[bytes], bytes] = bytes
    """Takes secrets out of a file's content."""

    @property
    def environment(self) -> dict[str, str]:
        """What the tool is told of it."""
        told = {
            STORE: self.store.location,
            ARTIFACTS_DIRECTORY: self.directory,
            ARTIFACTS_SOCKET: self.socket,
        }
        return {name: str(value) for name, value in told.items() if value is not None}

    @property
    def writable(self) -> tuple[Path, ...]:
        """What the tool writes."""
        return () if self.directory is None else (self.directory,)

    @property
    def readable(self) -> tuple[Path, ...]:
        """Where the artifacts of its own run are, if they are files."""
        run = self.store.file(f"{ARTIFACTS}/{self.name.partition('/')[0]}")
        return () if run is None else (run,)

    async def whole(self, success: ToolSuccess, *, limit_bytes: int, patience_seconds: float) -> ToolSuccess:
        """Keep what the tool left, and its answer if it is above the limit; gives what the model reads.

        It never fails: where the store does not take something in time, the answer says so.
        """
        try:
            async with asyncio.timeout(patience_seconds):
                return await self._whole(success, limit_bytes)
        except TimeoutError:
            _log.warning("the artifacts of %s were not kept: the store took too long", self.name)
            return await self._whole(success, limit_bytes, refused="the store took too long")

    async def _whole(self, success: ToolSuccess, limit_bytes: int, refused: str | None = None) -> ToolSuccess:
        result = await self._with_left_files(success.result, refused)
        if json_bytes(result) <= limit_bytes:
            return success.model_copy(update={"result": result})
        shown = await self._excerpt(encode_json(result), limit_bytes, refused)
        return Excerpt(tool=success.tool, result=shown)

    async def _with_left_files(self, result: JsonValue, refused: str | None) -> JsonValue:
        if self.directory is None or not isinstance(result, dict):
            return result
        files = {
            field: self.directory / value
            for field, value in result.items()
            if field.endswith(ARTIFACT_FIELD_ENDING) and isinstance(value, str) and _is_name(value)
        }
        kept = {field: await self._keep_file(file, refused) for field, file in files.items() if file.exists()}
        return result | kept

    async def _keep_file(self, file: Path, refused: str | None) -> str:
        if refused is not None:
            return not_kept(refused)
        try:
            async with self._writing:
                data = await asyncio.to_thread(lambda: self._hide(_read_plain_file(file)))
                return await self._keep(f".{file.name}", data)
        except OSError as error:
            return not_kept(f"its file cannot be read: {error.strerror or error}")
        except StoreUnavailableError as error:
            return not_kept(self._told(error))

    async def _excerpt(self, answer_json: str, limit_bytes: int, refused: str | None) -> JsonValue:
        if refused is not None:
            return excerpt_of_lost(answer_json, limit_bytes=limit_bytes, reason=refused)
        try:
            async with self._writing:
                artifact = await self._keep(".json", answer_json.encode())
        except StoreUnavailableError as error:
            return excerpt_of_lost(answer_json, limit_bytes=limit_bytes, reason=self._told(error))
        return excerpt(answer_json, limit_bytes=limit_bytes, artifact=artifact)

    def _told(self, error: StoreUnavailableError) -> str:
        """Give the reason, once the worker's log has it, too."""
        _log.warning("an artifact of %s was not kept: %s", self.name, error)
        return str(error)

    async def _keep(self, ending: str, data: bytes) -> str:
        key = f"{ARTIFACTS}/{self.name}{ending}"
        await self.store.put(key, data)
        file = self.store.file(key)
        return key.removeprefix(f"{ARTIFACTS}/") if file is None else str(file)


@dataclass(frozen=True)
class Artifacts:
    """Where the artifacts of a worker's calls go."""

    store: Store
    grace_seconds: float = 3
    """How long after a tool's own timeout the store may take; the server's limit must come later."""
    _writing: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False, compare=False
    )

    @asynccontextmanager
    async def of_call(
        self, call_id: str, hide: Callable[[bytes], bytes] = bytes
    ) -> AsyncGenerator[CallArtifacts]:
        """Have a directory in which a tool may leave files, as long as its call lasts.

        `hide` takes out of a file's content what nobody is to read.
        """
        workflow_id, _, tool_exec_id = call_id.rpartition("/")
        name = f"{key_part(workflow_id)}/{key_part(tool_exec_id)}-{secrets.token_hex(3)}"
        async with AsyncExitStack() as afterwards:
            directory = socket = None
            # Without them a tool leaves and reads nothing, and runs all the same.
            with suppress(OSError):
                directory = Path(tempfile.mkdtemp(prefix="surefoot-"))
                afterwards.push_async_callback(_remove, directory)
                socket = await self._relayed(directory / _SOCKET, afterwards)
            yield CallArtifacts(self.store, name, directory, socket, self._writing, hide)

    async def _relayed(self, socket: Path, afterwards: AsyncExitStack) -> Path | None:
        if self.store.file(ARTIFACTS) is not None:
            return None
        await afterwards.enter_async_context(relay(self.store, socket, below=ARTIFACTS))
        return socket


async def _remove(directory: Path) -> None:
    if not _removed_empty(directory):
        # A tool may have left so much that this takes a while, and other calls have to beat.
        await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)


def _removed_empty(directory: Path) -> bool:
    try:
        directory.rmdir()
    except OSError:
        return False
    return True


def _is_name(text: str) -> bool:
    return is_key(text) and "/" not in text and len(text) <= _MAX_NAME_LENGTH


def _read_plain_file(path: Path) -> bytes:
    """Read a file that a tool left; not what a link leads to, and no pipe that nobody writes to."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no plain file")
        if status.st_size > MAX_ARTIFACT_BYTES:
            raise OSError(f"it is larger than {count(MAX_ARTIFACT_BYTES)}")
        return file.read(MAX_ARTIFACT_BYTES)
