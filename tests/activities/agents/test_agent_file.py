import os
from decimal import Decimal
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.agents.agent_file import AgentFile, read_agent
from activities.tools.problem import Problem

GOOD = """\
---
description: Reviews a change.
model: openai-chat:gpt-5-mini
limits: {maxTurns: 9, maxCost: 2.50, maxTime: 30m}
---

You review changes.
---
Be kind.
"""


def problems(directory: Path, content: str | bytes, *, name: str = "reviewer.md") -> list[str]:
    """All that is wrong with a file, its directory left out."""
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    read = read_agent(path)
    assert isinstance(read, tuple)
    return [str(problem).replace(f"{directory}{os.sep}", "") for problem in read]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(GOOD, id="Unix"),
        pytest.param(GOOD.replace("\n", "\r\n"), id="lines as Windows ends them"),
        pytest.param(f"\ufeff{GOOD}", id="a byte order mark"),
    ],
)
def test_an_agent_is_its_front_matter_and_the_text_below(tmp_path: Path, content: str) -> None:
    path = tmp_path / "reviewer.md"
    path.write_bytes(content.encode())

    agent = read_agent(path)

    assert isinstance(agent, AgentFile)
    assert (agent.path, agent.definition.name, agent.definition.model, agent.system) == (
        path,
        "reviewer",
        "openai-chat:gpt-5-mini",
        "You review changes.\n---\nBe kind.",
    )
    assert (agent.limits.max_turns, agent.limits.max_cost, agent.limits.max_seconds) == (
        9,
        Decimal("2.50"),
        1800,
    )
    assert str(agent.problem("will not do", "limits", "maxCost")) == (
        f"{path}:4: limits.maxCost: will not do"
    )


def test_everything_that_is_wrong_is_said_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    content = """\
        ---
        name: my agent
        descripton: A word is missing a letter.
        limits:
          maxTurns: 0
          maxtime: 30m
          maxCost: a lot
        tools: [1, builtin, ""]
        protocol: smoke
        approval: {rm: sometimes}
        outputSchema: {type: thing}
        model: &it x
        mcpServers: *it
        ---
        """

    assert problems(tmp_path, dedent(content)) == [
        "reviewer.md:2: name: must be 1 to 64 letters, digits, '_' and '-'",
        "reviewer.md:2: description: is required, and missing",
        "reviewer.md:3: descripton: is no field of an agent file; did you mean 'description'?",
        "reviewer.md:5: limits.maxTurns: must be at least 1",
        "reviewer.md:6: limits.maxtime: is no field of an agent file; did you mean 'maxTime'?",
        "reviewer.md:7: limits.maxCost: 'a lot' is no amount of dollars; write it as 2.50",
        "reviewer.md:8: tools.0: must be text; put a number or true, false, null in quotes",
        "reviewer.md:8: tools.2: is empty",
        "reviewer.md:9: protocol: must be 'native' or 'prompted'",
        (
            "reviewer.md:10: approval.rm: must be never, always, destructive, outside-workdir, first-use, or "
            '{"when": a JSON Schema of the params}'
        ),
        (
            'reviewer.md:11: outputSchema: the output schema is refused: type: "thing" is not valid under '
            "any of the schemas listed in the 'anyOf' keyword"
        ),
        "reviewer.md:12: model: the anchor '&it' is refused: write each value out",
        "reviewer.md:13: mcpServers: the alias '*it' is refused: write the value out",
        "reviewer.md:15: the system prompt is missing: it is the text below the front matter",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            "You review changes.\n",
            ["reviewer.md:1: the first line must be ---, and the front matter follows it"],
            id="no front matter",
        ),
        pytest.param(
            "", ["reviewer.md:1: the first line must be ---, and the front matter follows it"], id="nothing"
        ),
        pytest.param(
            "---\ndescription: d\nBe kind.\n",
            ["reviewer.md:1: the front matter has no end: a line with nothing but ---"],
            id="front matter without an end",
        ),
        pytest.param(
            "---\n---\nBe kind.",
            ["reviewer.md:1: the front matter is empty; an agent has a description at least"],
            id="empty front matter",
        ),
        pytest.param(
            "---\n# later\n---\nBe kind.",
            ["reviewer.md:1: the front matter is empty; an agent has a description at least"],
            id="nothing but a comment",
        ),
        pytest.param(
            "---\n- a\n---\nBe kind.",
            ["reviewer.md:2: the front matter must be an object of fields, and is of type array"],
            id="a list",
        ),
        pytest.param(
            "---\ndescription: d\ndescription: e\n---\nBe kind.",
            ["reviewer.md:3: description: the field 'description' stands twice"],
            id="a field twice",
        ),
        pytest.param(
            "---\ndescription: d\nlimits:\n\tmaxTurns: 1\n---\n",
            [
                "reviewer.md:4: not YAML: a tab stands where only spaces may",
                "reviewer.md:6: the system prompt is missing: it is the text below the front matter",
            ],
            id="a tab, and no text",
        ),
        pytest.param(
            "---\ndescription: d\n[a]: 1\n---\nBe kind.",
            [
                "reviewer.md:3: the name of a field must be text; put text that begins with '{{' in quotes",
            ],
            id="a name that is a list",
        ),
        pytest.param(
            "---\ndescription: 2026-01-01\nmodel: 5\n---\nBe kind.",
            ["reviewer.md:3: model: must be text; put a number or true, false, null in quotes"],
            id="a date is text, and a number is none",
        ),
        pytest.param(
            b"---\ndescription: \xff\n---\nBe kind.", ["reviewer.md:2: is not UTF-8"], id="no UTF-8"
        ),
        pytest.param(b"---\n" + b"x" * 600_000, ["reviewer.md: is larger than 512KB"], id="too large a file"),
        pytest.param(
            f"---\ndescription: {'x' * 70_000}\n---\nBe kind.",
            ["reviewer.md:1: the front matter is larger than 64KB"],
            id="too large a front matter",
        ),
        pytest.param(
            f"---\ndescription: d\n---\n{'x' * 300_000}",
            ["reviewer.md:4: the system prompt is 300,002 bytes as JSON, above the limit of 256KB"],
            id="too large a prompt",
        ),
        pytest.param(
            "---\ndescription: d\noutputSchema: answer.json\n---\nBe kind.",
            [
                "reviewer.md:3: outputSchema: answer.json: there is no such file; a JSON Schema is meant",
            ],
            id="a schema that is not there",
        ),
        pytest.param(
            f"---\ndescription: {'[' * 60}\n---\nBe kind.",
            ["reviewer.md:2: " + "description." + "0." * 49 + "0: nested deeper than 50"],
            id="brackets without end",
        ),
    ],
)
def test_a_file_that_is_no_agent_says_why(tmp_path: Path, content: str | bytes, expected: list[str]) -> None:
    assert problems(tmp_path, content) == expected


def test_of_very_many_mistakes_the_first_hundred_are_told(tmp_path: Path) -> None:
    told = problems(tmp_path, "---\n" + "".join(f"key{n}: {n}\n" for n in range(150)) + "---\nBe kind.")

    assert (len(told), told[-1]) == (101, "reviewer.md: and 51 mistakes more")


def test_the_name_of_a_file_that_is_none_of_a_tool_asks_for_another(tmp_path: Path) -> None:
    assert problems(tmp_path, "---\ndescription: d\n---\nBe kind.", name="my agent.md") == [
        (
            "my agent.md:2: name: is that of the file, 'my agent', and must be 1 to 64 letters, digits, '_' "
            "and '-'; write another"
        )
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param('{"type": "object"}', None, id="a schema"),
        pytest.param('{"type": ', "is not JSON: Expecting value at character 9", id="half a schema"),
        pytest.param("[]", "must be an object of fields", id="a list"),
    ],
)
def test_a_schema_may_be_in_a_file_of_its_own(tmp_path: Path, content: str, problem: str | None) -> None:
    (tmp_path / "answer.json").write_text(content)
    path = tmp_path / "reviewer.md"
    path.write_text("---\ndescription: d\noutputSchema: answer.json\n---\nBe kind.")

    agent = read_agent(path)

    if isinstance(agent, AgentFile):
        assert (agent.definition.output_schema, problem) == ({"type": "object"}, None)
    else:
        assert problem is not None
        assert [str(one).endswith(problem) for one in agent] == [True]


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    assert [
        read_agent(tmp_path / "nowhere.md"),
        read_agent(tmp_path),
        read_agent(tmp_path / "pipe.md"),
        read_agent(Path("a\0b.md")),
    ] == [
        (Problem(tmp_path / "nowhere.md", "there is no such file; an agent file is meant"),),
        (Problem(tmp_path, "is not a file, and an agent file is meant"),),
        (Problem(tmp_path / "pipe.md", "is not a file, and an agent file is meant"),),
        (Problem(Path("a\0b.md"), "cannot be read: embedded null byte"),),
    ]


@settings(max_examples=60)
@given(st.text("-?:,[]{}#&*!|>'\"%@`\\/ \n\tab01.~\x85\ufeffUxu", max_size=60))
def test_whatever_stands_in_a_front_matter_is_an_agent_or_a_problem(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_text(f"---\ndescription: d\n{text}\n---\nBe kind.", encoding="utf-8")

    read = read_agent(path)

    assert isinstance(read, AgentFile) or (read and all(str(one).startswith(str(path)) for one in read))
