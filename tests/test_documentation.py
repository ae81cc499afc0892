import os
import re
import shutil
import subprocess
import sysconfig
from datetime import timedelta
from pathlib import Path

import pytest

from activities.tools.discovery import discover_tools
from surefoot import failures
from surefoot.failures import NOTHING, acted
from surefoot.outcome import ERROR_CODES, NEVER_ACTED, ToolFailure, envelope
from surefoot.strict_json import strict_json
from workflows.bugs import BUGS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FAILURES = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
ARTIFACTS = (ROOT / "docs" / "artifacts.md").read_text(encoding="utf-8")
TOOLS = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def shell_block(text: str) -> str:
    (block,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return block


@pytest.mark.slow
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
        pytest.param(
            section(TOOLS, "In Python"),
            "python3",
            [
                "ok: find_station (",
                '"success": true, "error": null, "name": "Kyoto", "lines": ["Tokaido Line"]',
                re.findall(r"```json\n(.*?)\n```", section(TOOLS, "In Python"))[0],
            ],
            id="Python",
        ),
        pytest.param(
            section(TOOLS, "File tools"),
            "python3",
            re.findall(r"```json\n(.*?)\n```", section(TOOLS, "File tools"), flags=re.DOTALL),
            id="file tools",
        ),
        pytest.param(
            section(TOOLS, "MCP servers"),
            "python3",
            re.findall(r"```json\n(.*?)\n```", section(TOOLS, "MCP servers")),
            id="an MCP server",
        ),
        pytest.param(section(TOOLS, "In JavaScript"), "node", ['"result": {"words": 3}'], id="JavaScript"),
        pytest.param(
            section(ARTIFACTS, "Read one back"),
            "sh",
            ["48,888", "\n9999\n9999\n[", "0 artifacts removed"],
            id="an artifact",
        ),
        pytest.param(
            section(ARTIFACTS, "In a tool of your own"), "sh", [".lines.txt"], id="a tool's artifact"
        ),
    ],
)
def test_an_example_of_a_tool_works_as_it_is_printed(
    example: str, needs: str, answers: list[str], tmp_path: Path
) -> None:
    if shutil.which(needs) is None:
        pytest.skip(f"{needs} is not installed, and this example is for those who have it")
    environment = {
        **os.environ,
        "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }

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


def test_the_example_for_coding_agents_is_a_tool_without_a_flaw(tmp_path: Path) -> None:
    agents = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", agents, flags=re.DOTALL)
    (tmp_path / "example.py").write_text(example, encoding="utf-8")

    found = discover_tools([tmp_path])

    assert (list(found.tools), found.problems) == (["look_up"], ())


def test_the_readmes_table_of_failures_is_the_one_in_the_code() -> None:
    rows = re.findall(
        r"^\| .* \| `([A-Z_]+)` \| .* \| (\w+) \|$", section(README, "When tools fail"), flags=re.MULTILINE
    )

    assert {code for code, _ in rows} == ERROR_CODES
    assert {code for code, acted in rows if acted == "no"} - {"TOOL_CRASHED"} == NEVER_ACTED


SENTENCES = [
    failures.timed_out("x", timedelta(seconds=30)),
    failures.crashed("x", 139),
    failures.not_started("x", 126, "why"),
    failures.raised("x", "KeyError: 'a'"),
    failures.invalid_json("x", NOTHING),
    failures.schema_mismatch("x", ["field by field"], NOTHING, exit_code=0),
    failures.undecodable("x", "why"),
    failures.output_too_large("x", size_bytes=2_000_000, exit_code=0),
    failures.too_many_values("x", NOTHING, exit_code=0),
    failures.sent_too_much("x"),
    failures.input_too_large("x", size_bytes=2_000_000, limit_bytes=2**20, of="its params"),
    failures.not_picked_up("x", timedelta(seconds=60), queue="gpu", reason="nobody listens on this queue"),
    failures.lost("x"),
    failures.interrupted("x"),
    failures.cancelled("x"),
    failures.cancelled("x"),
    failures.denied("x", "the reason given"),
    failures.limit_reached("x", "which limit"),
    failures.not_found("x", ["ABC"]),
    failures.not_found_on_executor("x"),
    failures.invalid_params("x", ["field by field"]),
]
"""A failure of each kind that the code can make, in the order of the table in docs/failures.md."""

ONLY_IN_THE_TABLE = {"the closest names, or all": "the tools are: ABC"}


def _rows() -> list[tuple[str, ...]]:
    return re.findall(
        r"^\| (.*) \| `([A-Z_]+)` \| (.*) \| (.*) \| (no|unknown) \|$",
        section(FAILURES, "The table"),
        flags=re.MULTILINE,
    )


def test_the_table_of_failures_says_what_the_code_says() -> None:
    rows = _rows()
    documented = [
        (code, re.sub("<(.*?)>", lambda word: ONLY_IN_THE_TABLE.get(word[1], word[1]), error), took_effect)
        for _, code, error, _, took_effect in rows
    ]

    assert documented == [
        (failure.error_code, failure.error, acted(failure, started="before it had started" not in row[0]))
        for failure, row in zip(SENTENCES, rows, strict=True)
    ]
    assert {code for code, *_ in documented} == ERROR_CODES


def test_each_error_code_is_explained_with_an_envelope_that_the_code_can_make() -> None:
    explained = re.findall(
        r"^### ([A-Z_]+)\n\n```json\n(.*)\n```$",
        section(FAILURES, "What an operator sees, and what to do"),
        flags=re.MULTILINE,
    )
    examples = [ToolFailure.model_validate(strict_json(example)) for _, example in explained]

    assert [(example.error_code, envelope(example)) for example in examples] == explained
    assert {example.error_code for example in examples} == ERROR_CODES
    assert [example.error for example in examples if not _is_in_the_table(example)] == []


def _is_in_the_table(example: ToolFailure) -> bool:
    errors = [error for _, code, error, *_ in _rows() if code == example.error_code]
    # `re.escape` leaves < and > as they are.
    return any(re.fullmatch(re.sub("<.*?>", ".*", re.escape(error)), example.error) for error in errors)


def test_the_mistakes_of_our_own_that_fail_a_run_are_named() -> None:
    failing, _, _ = section(FAILURES, "When Surefoot itself goes wrong").partition("- **It waits")
    named = re.findall(r"`(\w+)`", failing)

    assert named == [bug.__name__ for bug in BUGS]


def test_every_field_of_a_manifest_is_documented() -> None:
    from surefoot.definition import Manifest

    documented = re.findall(r"^\| `(\w+)` \|", section(TOOLS, "The manifest"), flags=re.MULTILINE)

    # A manifest is refused that says it is an agent's: those have files of their own.
    fields = {name: field for name, field in Manifest.model_fields.items() if name != "agent"}
    assert documented == [field.alias or name for name, field in fields.items()]


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        ROOT / "deploy" / "README.md",
    ]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    ]

    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []
