"""A tool for tests, which does what it is told and nothing else."""

from copy import copy
from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue

from surefoot.definition import DEFAULT_HEARTBEAT_SECONDS, Manifest, ToolDefinition
from surefoot.outcome import NEVER_ACTED, ErrorCode
from surefoot.strict_json import strict_json
from surefoot.testing.behaviour import AT_ONCE, NOT_PICKED_UP, Answer, Answers, Behaviour, Fails

FAKES_QUEUE = "fake-tools"
"""The executor queue of every fake that needs none of its own."""


class FakeTool:
    """A tool as the model sees it, and what becomes of its calls: of the first, the second, and so on.

    The last that was told stays for all further calls. A fake does not change, each method gives another
    one, so tests can share what they begin with.
    """

    def __init__(self, name: str, /, **manifest: JsonValue) -> None:
        """Have a name, and whatever fields of a manifest (docs/tools.md) matter to the test.

        Raises:
            ValueError: a field is none of a manifest's, or its value does not fit.
        """
        fields = {"description": f"The tool {name}.", "inputSchema": {"type": "object"}, **manifest}
        self._definition = Manifest.model_validate({"name": name, **fields}).definition()
        self._behaviours: tuple[Behaviour, ...] = ()

    @classmethod
    def like(cls, manifest: Path) -> "FakeTool":
        """Stand in for a tool on disk: give a fake with the definition in its `<tool>.tool.json`.

        Raises:
            ValueError: the manifest is not valid.
        """
        written = Manifest.model_validate(strict_json(manifest.read_bytes()), by_alias=True, by_name=False)
        fields = written.model_dump(by_alias=True, exclude_unset=True)
        return cls(fields.pop("name"), **fields)

    def answers(self, answer: JsonValue | Answer, *, after: timedelta = AT_ONCE) -> "FakeTool":
        """Let the next call be answered: with this JSON value, or what a function makes of its params.

        `after` is time that is skipped. Past the tool's `timeoutSeconds` the run does not wait any more.
        """
        return self._then(Answers(answer, after))

    def fails(
        self,
        error_code: ErrorCode,
        *,
        stdout: str = "",
        stderr: str = "",
        exit_code: int | None = None,
        reason: str | None = None,
        after: timedelta = AT_ONCE,
    ) -> "FakeTool":
        """Let the next call fail with any error code, in the contract's own words.

        `stdout` and `stderr` are what the tool had written. TOOL_CRASHED has an `exit_code`, or a `reason`
        in its place; TOOL_DENIED, LIMIT_REACHED and INVALID_PARAMS have a `reason`, too. `after` is time that
        is skipped before it; a timeout takes its own time.

        Raises:
            ValueError: output or an exit code where no call that ends like this has any.
        """
        if (stdout or stderr) and error_code in NEVER_ACTED:
            raise ValueError(f"a call that ends with {error_code} was never made, and has no output")
        if exit_code is not None and error_code != "TOOL_CRASHED":
            raise ValueError(f"a call that ends with {error_code} has no exit code of its own")
        return self._then(Fails(error_code, stdout, stderr, exit_code, reason, after))

    @property
    def name(self) -> str:
        """What the model calls it."""
        return self._definition.name

    @property
    def definition(self) -> ToolDefinition:
        """The definition that a run is given: with a queue, where the fake decides what happens."""
        definition = self._definition
        codes = {told.error_code for told in self._behaviours if isinstance(told, Fails)}
        own_queue = self.name if NOT_PICKED_UP in codes else FAKES_QUEUE
        heartbeat = definition.heartbeat_seconds
        if definition.executor_queue is None:
            # Time is skipped in leaps that no heartbeat fits between.
            heartbeat = None
        if "TOOL_LOST" in codes:
            heartbeat = heartbeat or DEFAULT_HEARTBEAT_SECONDS
        return definition.model_copy(
            update={"executor_queue": definition.executor_queue or own_queue, "heartbeat_seconds": heartbeat}
        )

    def behaviour(self, n: int) -> Behaviour | None:
        """Tell what becomes of call number `n`, counted from 0; None if nobody said."""
        return self._behaviours[min(n, len(self._behaviours) - 1)] if self._behaviours else None

    def _then(self, behaviour: Behaviour) -> "FakeTool":
        another = copy(self)
        another._behaviours = (*self._behaviours, behaviour)  # noqa: SLF001  of its own class
        return another
