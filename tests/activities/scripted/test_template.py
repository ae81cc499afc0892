import pytest
from pydantic import JsonValue

from activities.scripted.template import NotThereError, render, render_text, roots

SCOPE: dict[str, JsonValue] = {
    "last": {"tool": "bash", "result": {"stdout": "3\n", "exit_code": 0, "files": ["a.c", "b.c"]}},
    "prompt": "Count {{last}}",
    "lines": "one\ntwo\n",
    "empty": {},
}


@pytest.mark.parametrize(
    ("value", "rendered"),
    [
        pytest.param("{{last.result.exit_code}}", 0, id="a whole text keeps the type"),
        pytest.param("{{last.result.stdout}}", "3\n", id="a whole text keeps its line break"),
        pytest.param("{{ last.result.files }}", ["a.c", "b.c"], id="a list, with spaces in the braces"),
        pytest.param(
            "Found {{last.result.stdout}} TODOs", "Found 3 TODOs", id="inside a text, no line break"
        ),
        pytest.param("{{last.result.files.1}}!", "b.c!", id="a position in a list, from 0"),
        pytest.param("= {{last.result.files}}", '= ["a.c", "b.c"]', id="inside a text, JSON"),
        pytest.param(
            "It said:\n  {{lines}}\n.", "It said:\n  one\n  two\n.", id="lines keep the indentation"
        ),
        pytest.param("  It said: {{lines}}.", "  It said: one\ntwo.", id="lines within a line do not"),
        pytest.param({"n": ["{{last.result.exit_code}}", 1]}, {"n": [0, 1]}, id="deep inside params"),
        pytest.param("{{prompt}}.", "Count {{last}}.", id="what is inserted is not filled again"),
        pytest.param("{{.Names}} {last} {{ }} {{a b}}", "{{.Names}} {last} {{ }} {{a b}}", id="other braces"),
    ],
)
def test_a_template_stands_for_a_value_of_the_conversation(value: JsonValue, rendered: JsonValue) -> None:
    assert render(value, SCOPE) == rendered


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            "{{last.stdout}}", "'{{last.stdout}}' is not there: last has tool, result", id="a field"
        ),
        pytest.param(
            "{{last.result.files.2}}",
            "'{{last.result.files.2}}' is not there: last.result.files is a list of 2, counted from 0",
            id="a position",
        ),
        pytest.param(
            "{{last.tool.name}}",
            "'{{last.tool.name}}' is not there: last.tool is \"bash\"",
            id="inside a text",
        ),
        pytest.param("{{empty.a}}", "'{{empty.a}}' is not there: empty is empty", id="of nothing"),
        pytest.param(
            "{{files}}",
            "'{{files}}' is not there: the conversation so far has last, prompt, lines, empty",
            id="a name",
        ),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends(text: str, problem: str) -> None:
    with pytest.raises(NotThereError) as caught:
        render_text(text, SCOPE)
    assert str(caught.value) == problem


def test_the_roots_of_a_value_are_what_its_templates_begin_with() -> None:
    assert list(roots({"a": ["{{last.x}} {{files}}", 3], "b": "{{ prompt }}"})) == ["last", "files", "prompt"]
