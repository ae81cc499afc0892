import re
import shlex
from pathlib import Path

import pytest

from surefoot.summarising import Split, summarised
from tests.console.command import Surefoot
from tests.surefoot.conversations import success, turn

CONTEXT = (Path(__file__).parents[2] / "docs" / "context.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_documented_run_makes_room_as_it_is_printed(surefoot: Surefoot) -> None:
    example = CONTEXT.partition("\n## See it\n")[2]
    (script,) = re.findall(r"look\.yaml <<'END'\n(.*?)END\n", example, flags=re.DOTALL)
    (command,) = re.findall(r"^surefoot (.*)$", example, flags=re.MULTILINE)
    printed = re.findall(r"```text\n(.*?)\n```", example, flags=re.DOTALL)[0].splitlines()
    (surefoot.directory / "look.yaml").write_text(script)

    ended = surefoot(*shlex.split(command))

    assert (ended.exit_code, ended.stdout) == (0, "Seen.\n")
    assert [line for line in ended.stderr.splitlines() if line.startswith("context window")] == printed


def test_the_words_before_a_summary_are_quoted_as_they_are() -> None:
    older = tuple(message for n in range(40) for message in turn(n, success(1)))
    (told, *_) = summarised(Split((), older, turn(41, success(1))), "S")
    assert f"   {getattr(told, 'text', '').partition(chr(10))[0]}\n   ```" in CONTEXT
