import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TESTING = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^```python\n# (test_\w+\.py)\n(.*?)^```$", TESTING, re.DOTALL | re.MULTILINE))

WRONG = """
import asyncio
from surefoot.testing import FakeTool, call, script

def test_that_fails(surefoot_environment):
    model = script(call("x"), "It works.")
    run = asyncio.run(surefoot_environment.run("Go.", model=model, tools=[FakeTool("x").fails("TOOL_LOST")]))
    assert run.answer == "It does not work."
"""

REPORT = """\
user: Go.
model calls x {}
x fails with TOOL_LOST: Tool 'x' was lost: its worker stopped answering; it may or may not have taken effect
model: It works.
[completed]
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest prints of the examples and of a test that fails; once for all, for it takes seconds."""
    directory = tmp_path_factory.mktemp("examples")
    for name, code in {**EXAMPLES, "test_wrong.py": WRONG}.items():
        (directory / name).write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--rootdir", str(directory)]
    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=250, check=False)
    return ended.stdout + ended.stderr


def test_every_example_passes_as_it_is_printed(report: str) -> None:
    ended = re.findall(r"^(test_\w+\.py)::\S+ (\w+)", report, re.MULTILINE)

    assert Counter(ended) == {
        ("test_deploying.py", "PASSED"): 1,
        ("test_publishing.py", "PASSED"): 1,
        ("test_thirty_days.py", "PASSED"): 3,
        ("test_upgrades.py", "PASSED"): 3,
        ("test_wrong.py", "FAILED"): 1,
    }, report
    assert TESTING.count("```python") == len(EXAMPLES)


def test_the_report_of_a_test_that_fails_shows_what_happened_in_its_runs(report: str) -> None:
    assert re.search(r"^-+ surefoot run 1 -+\n" + re.escape(REPORT), report, re.MULTILINE), report
