import re
import subprocess
import sys
from pathlib import Path

TESTING = (Path(__file__).parents[2] / "docs" / "testing.md").read_text(encoding="utf-8")


def test_the_examples_pass_as_they_are_printed(tmp_path: Path) -> None:
    examples = re.findall(
        r"^```python\n# (test_\w+\.py)\n(.*?)^```$", TESTING, flags=re.DOTALL | re.MULTILINE
    )
    for name, code in examples:
        (tmp_path / name).write_text(code, encoding="utf-8")

    # Away from the settings of our own tests.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)

    assert ended.stdout.splitlines()[-1].startswith("7 passed"), ended.stdout + ended.stderr
    assert [name for name, _ in examples] == ["test_deploying.py", "test_thirty_days.py", "test_upgrades.py"]
