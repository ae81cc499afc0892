"""What `surefoot doctor` looks at on this machine."""

import asyncio
import os
import platform
import secrets
from pathlib import Path

from activities.interface import ToolCallInput
from activities.model import ModelRefusedError
from activities.store.store import StoreUnavailableError
from activities.tools.discovery import discover_tools
from activities.tools.executor import ToolExecutor
from activities.tools.sources import BUILTIN_DIRECTORY
from console.findings import Finding, fail, ok, warn
from console.security_checks import security_findings
from surefoot.outcome import ToolFailure
from workers.child_signals import keep_exit_codes
from workers.environment import process_environment
from workers.models import check_form, check_model, price_table, provider_settings
from workers.server_binary import ServerBinaryMissingError, find_server_binary
from workers.setting_values import is_s3_url
from workers.settings import Settings, SettingsError
from workers.storage import open_store
from workers.walls import sandbox_of

_TOOL_SECONDS = 30
_KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


async def machine_findings(settings: Settings, *, named: str | None) -> list[Finding]:
    """Check this machine; `named` is the server that is used in place of the embedded one."""
    return [
        _platform(),
        _server_binary(settings, named=named),
        *([] if named else [_state_directory(settings.state_directory)]),
        await _store(settings, named=named),
        await _model(settings, named=named),
        *([] if settings.prices is None else [_prices(settings)]),
        await _tools(settings),
        *security_findings(settings, named=named is not None),
    ]


def _platform() -> Finding:
    version = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if platform.system() == "Linux":
        return ok("platform", version)
    return warn(
        "platform",
        f"{version}: use Linux for full supervision; here a call's process group is killed when it ends, "
        "and what left the group goes on",
    )


def _server_binary(settings: Settings, *, named: str | None) -> Finding:
    try:
        return ok("server binary", str(find_server_binary(settings)))
    except ServerBinaryMissingError as error:
        if named:
            return ok("server binary", f"there is none, and {named} needs none")
        return fail("server binary", str(error))


def _state_directory(directory: Path) -> Finding:
    return _directory("state directory", directory, variable="SUREFOOT_STATE_DIRECTORY")


async def _store(settings: Settings, *, named: str | None) -> Finding:
    """Find out whether artifacts can be read, without keeping any."""
    if named and settings.store is None:
        return ok("store", f"SUREFOOT_STORE is needed where `surefoot worker` runs for {named}")
    store = open_store(settings, process_environment())
    if not is_s3_url(store.location):
        return _directory("store", Path(store.location), variable="SUREFOOT_STORE")
    try:
        await store.list("doctor")
    except StoreUnavailableError as error:
        return fail("store", f"{error}; set SUREFOOT_STORE and the AWS_ variables")
    return ok("store", f"{store.location} can be listed; only a run can tell whether it can be written to")


def _directory(name: str, directory: Path, *, variable: str) -> Finding:
    """Find out whether a directory can be used, without making it."""
    nearest = next(place for place in (directory, *directory.parents) if os.access(place, os.F_OK))
    if not nearest.is_dir():
        return fail(name, f"{nearest} is a file: set {variable} to a directory")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return fail(name, f"{nearest} cannot be written: set {variable}")
    return ok(name, f"{directory}{'' if nearest == directory else ', made when it is needed'}")


async def _model(settings: Settings, *, named: str | None) -> Finding:
    environment = process_environment()
    present = [name for name in _KEYS if environment.get(name)]
    if named:
        return ok(
            "model", f"the keys are needed where `surefoot worker` runs; {named} is not told of any here"
        )
    if settings.model:
        return await asyncio.to_thread(_default_model, settings.model)
    if present:
        return ok("model", f"{' and '.join(present)} set; only a run can tell whether a key is accepted")
    return warn(
        "model",
        "no key is set: export OPENAI_API_KEY or ANTHROPIC_API_KEY, or OPENAI_BASE_URL for a server that "
        "asks for none; scripted models work",
    )


def _default_model(name: str) -> Finding:
    """Open the model that runs are given; it is not asked anything."""
    try:
        check_form(name)
        check_model(name, "native", provider_settings(process_environment()))
    except ModelRefusedError as error:
        return fail("model", f"SUREFOOT_MODEL cannot be used: {error}")
    return ok(
        "model", f"{name} (SUREFOOT_MODEL) can be opened; only a run can tell whether its key is accepted"
    )


def _prices(settings: Settings) -> Finding:
    try:
        models = price_table(settings).models
    except SettingsError as error:
        return fail("prices", str(error))
    return ok("prices", f"{', '.join(sorted(models)) or 'no model'} in {settings.prices} (SUREFOOT_PRICES)")


async def _tools(settings: Settings) -> Finding:
    """Call bash as a run would."""
    try:
        sandbox = await asyncio.to_thread(sandbox_of, settings)
    except SettingsError:
        return fail("tools", "none is tried: no executable runs without its sandbox")
    found = discover_tools([BUILTIN_DIRECTORY])
    if found.problems:
        return fail("tools", f"reinstall Surefoot: {'; '.join(map(str, found.problems))}")
    keep_exit_codes()
    call = ToolCallInput(
        tool="bash",
        params={"command": "exit 7"},
        call_id=f"doctor-{secrets.token_hex(4)}/1-1",
        timeout_seconds=_TOOL_SECONDS,
    )
    executor = ToolExecutor(found.tools, Path.cwd(), process_environment(), sandbox=sandbox)
    outcome = await executor.run(call)
    if isinstance(outcome, ToolFailure):
        return fail("tools", f"{outcome.error} ({outcome.error_code}) {outcome.stderr}".strip())
    match outcome.result:
        case {"exit_code": 7}:
            return ok("tools", "bash, which comes with Surefoot, runs commands here")
        case other:
            return fail("tools", f"bash, which comes with Surefoot, does not run commands here: {other}")
