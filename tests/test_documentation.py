import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from surefoot.outcome import ERROR_CODES, NEVER_ACTED

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOLS = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def shell_block(text: str) -> str:
    (block,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return block


@pytest.mark.parametrize(
    ("example", "needs", "answers"),
    [
        pytest.param(
            section(README, "Write a tool in two minutes"),
            "python3",
            ['"result": {"words": 3}', '"error_code": "INVALID_PARAMS"'],
            id="the README's tool",
        ),
        pytest.param(
            section(TOOLS, "In a shell script"),
            "sh",
            ['"tool": "disk-free", "tool_success": true'],
            id="a shell script",
        ),
        pytest.param(section(TOOLS, "In JavaScript"), "node", ['"result": {"words": 3}'], id="JavaScript"),
    ],
)
def test_an_example_of_a_tool_works_as_it_is_printed(
    example: str, needs: str, answers: list[str], tmp_path: Path
) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed, and this example is for those who have it")
    environment = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"}

    shown = subprocess.run(
        ["sh", "-c", shell_block(example)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert [answer for answer in answers if answer not in shown.stdout] == [], shown.stderr


def test_the_readmes_table_of_failures_is_the_one_in_the_code() -> None:
    rows = re.findall(
        r"^\| .* \| `([A-Z_]+)` \| .* \| (\w+) \|$", section(README, "When tools fail"), flags=re.MULTILINE
    )

    # Approval is not offered yet, and neither is its failure.
    assert {code for code, _ in rows} == ERROR_CODES - {"TOOL_DENIED"}
    assert {code for code, acted in rows if acted == "no"} - {"TOOL_CRASHED"} == NEVER_ACTED - {"TOOL_DENIED"}


def test_every_field_of_a_manifest_is_documented() -> None:
    from surefoot.definition import Manifest

    documented = re.findall(r"^\| `(\w+)` \|", section(TOOLS, "The manifest"), flags=re.MULTILINE)

    assert documented == [field.alias or name for name, field in Manifest.model_fields.items()]


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "deploy" / "README.md"]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    ]

    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []
