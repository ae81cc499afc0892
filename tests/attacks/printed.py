"""What people see of an outcome."""

import io

from console.json_text import escape_controls
from console.transcript_text import TranscriptText
from surefoot.outcome import ToolFailure, ToolSuccess, envelope
from tests.attacks import scene
from tests.console.runs import ended, finished, replied, scheduled, started, turn


def printed(outcome: ToolSuccess | ToolFailure) -> str:
    """Give what `surefoot tools call` and `surefoot show` print of it."""
    stream = io.StringIO()
    shown = TranscriptText(stream)
    for event in (
        *(started(), turn(1, 0), replied(1, 0, "", (scene.TOOL, {})), scheduled("1-1", scene.TOOL, 0)),
        *ended("1-1", scene.TOOL, 1, outcome, since=0),
        finished(2, answer=str(outcome.result) if isinstance(outcome, ToolSuccess) else outcome.error),
    ):
        shown.show(event)
    return f"{escape_controls(envelope(outcome))}\n{stream.getvalue()}"
