"""Tests for agents: skipped time, scripted models, fake tools, transcripts and replays (docs/testing.md)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.testing.environment import Environment as Environment
    from surefoot.testing.environment import start_environment as start_environment
    from surefoot.testing.fake_tool import FakeTool as FakeTool
    from surefoot.testing.finished_run import FinishedRun as FinishedRun
    from surefoot.testing.replay import DoesNotReplayError as DoesNotReplayError
    from surefoot.testing.replay import record as record
    from surefoot.testing.replay import replays as replays
    from surefoot.testing.running_run import RunningRun as RunningRun
    from surefoot.testing.running_run import RunTooSlowError as RunTooSlowError
    from surefoot.testing.scripting import Call as Call
    from surefoot.testing.scripting import call as call
    from surefoot.testing.scripting import script as script
    from surefoot.testing.scripting import script_file as script_file
    from surefoot.testing.transcript import Transcript as Transcript

_HOMES = {
    "Call": "scripting",
    "DoesNotReplayError": "replay",
    "Environment": "environment",
    "FakeTool": "fake_tool",
    "FinishedRun": "finished_run",
    "RunTooSlowError": "running_run",
    "RunningRun": "running_run",
    "Transcript": "transcript",
    "call": "scripting",
    "record": "replay",
    "replays": "replay",
    "script": "scripting",
    "script_file": "scripting",
    "start_environment": "environment",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  one of many things
    """Give what was asked for.

    pytest loads its plugins, and with ours this package, whatever it is used for: only who asks for something
    waits for Temporal's SDK.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
