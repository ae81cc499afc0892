"""Tools on disk: an executable beside its manifest."""

import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from activities.tools.disk_tool import DiskTool
from activities.tools.problem import Problem
from activities.tools.start_failure import foreseen_start_failure
from surefoot.definition import Manifest
from surefoot.sizes import count
from surefoot.strict_json import NotStrictJsonError, json_type, strict_json

MANIFEST_SUFFIX = ".tool.json"

_MAX_MANIFEST_BYTES = 1024 * 1024


def tools_with_manifest(manifest: Path) -> Iterator[DiskTool | Problem]:
    """Load the tool of a manifest, or everything that is wrong with it."""
    written = _read(manifest)
    if not isinstance(written, Manifest):
        yield from written
        return
    definition = written.definition()
    stem = manifest.name.removesuffix(MANIFEST_SUFFIX)
    if definition.name != stem:
        yield Problem(manifest, f"is '{definition.name}', and the file's name says '{stem}'", "name")
        return
    # A tool is started in the run's working directory, from where a relative path leads elsewhere.
    executable = manifest.with_name(stem).absolute()
    if os.access(executable, os.F_OK):
        reason = foreseen_start_failure(executable)
        if reason is not None:
            yield Problem(executable, f"cannot be started: {reason}", warning=True)
        yield DiskTool(definition, manifest, executable, written.environment)
    elif definition.executor_queue is not None:
        yield DiskTool(definition, manifest, None)
    else:
        yield Problem(manifest, f"its executable is missing: there is no file {executable}")


def _read(manifest: Path) -> Manifest | list[Problem]:
    try:
        status = manifest.stat()
        if not S_ISREG(status.st_mode):
            return [Problem(manifest, "is not a file")]
        if status.st_size > _MAX_MANIFEST_BYTES:
            return [Problem(manifest, f"is larger than {count(_MAX_MANIFEST_BYTES)}")]
        value = strict_json(manifest.read_bytes())
    except OSError as error:
        return [Problem(manifest, f"cannot be read: {error.strerror}")]
    except NotStrictJsonError as error:
        return [Problem(manifest, f"is not JSON: {error}")]
    return _definition(manifest, value)


def _definition(manifest: Path, value: JsonValue) -> Manifest | list[Problem]:
    if not isinstance(value, dict):
        return [Problem(manifest, f"must be a JSON object, and is of type {json_type(value)}")]
    try:
        return Manifest.model_validate(value, strict=True, extra="forbid", by_alias=True, by_name=False)
    except ValidationError as error:
        # Where a field is wrong, the default that would depend on it is reported as missing, too.
        errors = [one for one in error.errors() if one["type"] != "default_factory_not_called"]
        return [_problem(manifest, one) for one in errors]


def _problem(manifest: Path, error: ErrorDetails) -> Problem:
    reasons = {"missing": "is required, and missing", "extra_forbidden": "is no field of a manifest"}
    reason = reasons.get(error["type"], error["msg"].removeprefix("Value error, "))
    return Problem(manifest, reason, ".".join(str(step) for step in error["loc"]) or None)
