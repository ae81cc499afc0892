import json
import re
import shlex
from pathlib import Path

from surefoot.final_answer import Misfit, read_answer
from surefoot.run import RunInput
from surefoot.sizes import MAX_ANSWER_VALUES, MAX_OUTPUT_BYTES, MAX_OUTPUT_SCHEMA_BYTES
from surefoot.told import misfit_text
from tests.console.command import Surefoot

PAGE = (Path(__file__).parents[2] / "docs" / "structured-answers.md").read_text(encoding="utf-8")


def test_the_documented_run_is_corrected_until_its_answer_fits(surefoot: Surefoot) -> None:
    (example,) = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    (command,) = re.findall(r"^surefoot (.*)$", example, flags=re.MULTILINE)
    (value,) = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
    for name, content in re.findall(
        r"^cat >(\S+) <<'END'\n(.*?)^END\n", example, flags=re.MULTILINE | re.DOTALL
    ):
        (surefoot.directory / name).write_text(content)

    ended = surefoot(*shlex.split(command), "-o", "json")
    told = json.loads(ended.stdout)

    assert (ended.exit_code, told["status"], told["turns"]) == (0, "completed", 4)
    assert (told["output"], told["answer"]) == (json.loads(value), value.strip())


def test_the_documented_correction_is_what_the_model_is_told() -> None:
    (schema,) = re.findall(r"answer\.json <<'END'\n(.*?)^END", PAGE, flags=re.MULTILINE | re.DOTALL)
    misfit = read_answer('{"files": 12, "biggest": "notes.csv"}', json.loads(schema))
    assert isinstance(misfit, Misfit)
    assert f"```text\n{misfit_text(misfit.reason)}\n```" in PAGE


def test_the_documented_sizes_are_those_of_the_code() -> None:
    assert f"at most {MAX_OUTPUT_BYTES // 1024} KiB each" in PAGE
    assert f"{MAX_ANSWER_VALUES:,} values" in PAGE
    assert f"up to {MAX_OUTPUT_SCHEMA_BYTES // 1024} KiB" in PAGE
    assert "output_schema" in RunInput.model_fields
