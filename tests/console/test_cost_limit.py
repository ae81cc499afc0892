import re
import shlex
from pathlib import Path

from tests.console.command import Surefoot

LIMITS = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")


def test_the_documented_run_ends_at_its_cost_limit_as_it_is_printed(surefoot: Surefoot) -> None:
    example = LIMITS.partition("\n## See it\n")[2]
    (script,) = re.findall(r"talk\.yaml <<'END'\n(.*?)END\n", example, flags=re.DOTALL)
    (command,) = re.findall(r"^surefoot (.*)$", example, flags=re.MULTILINE)
    (printed,) = re.findall(r"```text\n(.*?)```", example, flags=re.DOTALL)
    (surefoot.directory / "talk.yaml").write_text(script)

    ended = surefoot(*shlex.split(command))

    assert (ended.exit_code, ended.stdout) == (3, "It was still the same day.\n")
    assert _untimed(ended.stderr).endswith(_untimed(printed))


def _untimed(text: str) -> str:
    return re.sub(r" [0-9.]+s,", " TIME,", text)
