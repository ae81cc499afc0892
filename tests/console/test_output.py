import io

import pytest

from console.json_output import JsonOutput
from console.jsonl import JsonlOutput
from console.live import LiveOutput
from console.masked_output import behind_mask
from console.output import Output, OutputFormat, choose_output
from console.plain import PlainOutput
from tests.console.runs import RUN, Terminal, finished, screen, started

_FITS: tuple[Output, ...] = (
    JsonlOutput(io.StringIO(), io.StringIO()),
    JsonOutput(io.StringIO()),
    PlainOutput(io.StringIO(), answer=None),
    LiveOutput(screen(), answer=None),
)


@pytest.mark.parametrize(
    ("output_format", "stderr", "term", "kind"),
    [
        pytest.param("text", Terminal(), "xterm", LiveOutput, id="a terminal is drawn on"),
        pytest.param("text", Terminal(), "dumb", PlainOutput, id="a terminal that cannot draw gets lines"),
        pytest.param("text", io.StringIO(), "xterm", PlainOutput, id="a file gets lines"),
        pytest.param("jsonl", Terminal(), "xterm", JsonlOutput, id="events are lines, also for a terminal"),
    ],
)
def test_the_output_fits_the_format_and_the_terminal(
    monkeypatch: pytest.MonkeyPatch, output_format: str, stderr: io.StringIO, term: str, kind: type[Output]
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("FORCE_COLOR", "1")

    output = choose_output(OutputFormat(output_format), io.StringIO(), stderr)

    assert type(behind_mask(output)) is kind


def test_json_has_its_progress_on_stderr_and_only_the_object_on_stdout() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    output = choose_output(OutputFormat.JSON, stdout, stderr)

    output.begin(**RUN)
    output.show(started())
    output.show(finished(1, answer="done"))
    output.end()

    assert (stdout.getvalue().count("\n"), stdout.getvalue()[:24], stderr.getvalue().split("\n")[0]) == (
        1,
        '{"workflow_id": "run-1",',
        "run run-1 with scripted:a.yaml",
    )
