from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.model import ModelRefusedError
from activities.scripted.script import ScriptError, load_script, parse_script
from activities.scripted.steps import ScriptedCall

NOTHING: dict[str, JsonValue] = {}


def problem(text: str) -> str:
    with pytest.raises(ScriptError) as caught:
        parse_script(text.encode(), file="x.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        pytest.param("{}", "line 1, field 'steps'", "is missing", id="no steps"),
        pytest.param("steps: []", "line 1, field 'steps'", "a script has at least one step", id="none"),
        pytest.param("- say: a", "line 1", "must be an object of fields", id="a list of steps alone"),
        pytest.param(
            "steps:\n- a: b: c",
            "line 2",
            "not YAML: mapping values are not allowed here; put text that holds ': ' in quotes",
            id="not YAML",
        ),
        pytest.param(
            "steps:\n- sey: a",
            "line 2, field 'sey'",
            "there is no such field here; did you mean 'say'?",
            id="a field nobody knows",
        ),
        pytest.param(
            "steps:\n- say: a\n- say: 3",
            "line 3, field 'say'",
            "must be text; put a number or true, false, null in quotes",
            id="a number where text belongs",
        ),
        pytest.param(
            "steps:\n- say: 3\n  repeat: 0",
            "line 2, field 'say'",
            "must be text; put a number or true, false, null in quotes",
            id="the first problem of two",
        ),
        pytest.param(
            "steps:\n- reasoning: a",
            "line 2",
            "a step needs 'say', 'call', 'unreadable' or 'choose'",
            id="a step without a reply",
        ),
        pytest.param(
            "steps:\n- say: a\n  repeat: 0",
            "line 3, field 'repeat'",
            "must be 1 or more",
            id="repeated no times",
        ),
        pytest.param(
            "steps:\n- say: a\n  delay_seconds: 9999",
            "line 3, field 'delay_seconds'",
            "must be 3600 or less",
            id="too long a delay",
        ),
        pytest.param(
            "steps:\n- call: {bash: {}}",
            "line 2, field 'call'",
            "must be a list",
            id="a call that is no list",
        ),
        pytest.param(
            "steps:\n- call:\n  - tool: bash\n    params: {}",
            "line 3, field 'call'",
            "a call is one tool's name with its params, like `bash: {command: ls}`",
            id="a call in another form",
        ),
        pytest.param(
            "steps:\n- call:\n  - bash:\n    as: last",
            "line 3, field 'call'",
            "'last' already means something in templates; choose another name for 'as'",
            id="a name that is taken",
        ),
        pytest.param(
            "steps:\n- call: [{a: , as: x y}]",
            "line 2, field 'as'",
            "must begin with a letter, and hold only letters, digits, '_' and '-'",
            id="a name with a space",
        ),
        pytest.param(
            "steps:\n- call: [{a: , as: x}, {b: , as: x}]",
            "line 2, field 'call'",
            "two calls made side by side are both named 'x'",
            id="a name twice in a turn",
        ),
        pytest.param(
            "steps:\n- say: a\n  when: TOOL_TIMEOUT",
            "line 3, field 'when'",
            "must be an object of fields",
            id="a condition that is text",
        ),
        pytest.param(
            "steps:\n- say: a\n  when: {}",
            "line 3, field 'when'",
            "an empty condition; leave 'when' out of a step that is always given",
            id="an empty condition",
        ),
        pytest.param(
            "steps:\n- say: a\n  when: {code: 1}",
            "line 3, field 'when'",
            "an outcome has no field 'code'; its fields are error, error_code, exit_code, result, "
            "stderr, stdout, tool, tool_success",
            id="a field that no outcome has",
        ),
        pytest.param(
            "steps:\n- choose:\n  - say: a\n  say: b",
            "line 2",
            "'say' belongs in one of the replies to 'choose' from",
            id="a reply beside the choice",
        ),
        pytest.param(
            "steps:\n- choose:\n  - say: a\n    repeat: 2",
            "line 4, field 'repeat'",
            "there is no such field here",
            id="a repeated choice",
        ),
        pytest.param(
            "steps:\n- fail: {times: 2}\n  say: a",
            "line 2, field 'fail'",
            "needs either 'unavailable' or 'refused'",
            id="a failure of no kind",
        ),
        pytest.param(
            "steps:\n- fail: {refused: a, times: 2}\n  say: a",
            "line 2, field 'fail'",
            "'refused' is final: 'times' and 'retry_after_seconds' go with 'unavailable'",
            id="a refusal that heals",
        ),
        pytest.param(
            "steps:\n- fail: {unavailable: a}\n  say: a",
            "line 2",
            "no reply comes after a 'fail' without 'times': every attempt fails",
            id="a reply that is never reached",
        ),
        pytest.param(
            "steps:\n- unreadable: a\n  call: [{bash: }]",
            "line 2",
            "a reply that is 'unreadable' cannot 'call'",
            id="an unreadable reply with calls",
        ),
        pytest.param(
            "steps:\n- say: a\n- say: '{{lst.stdout}}'",
            "line 3, field 'say'",
            "the template '{{lst}}' names no call of this script",
            id="a template of nothing",
        ),
        pytest.param(
            "steps:\n- say: a\n  call:\n  - bash: {command: 'ls {{dir}}'}",
            "line 3, field 'call'",
            "the template '{{dir}}' names no call of this script",
            id="a template in params",
        ),
        pytest.param(
            "steps:\n- say: '{{matched.tool}}'",
            "line 2, field 'say'",
            "the template '{{matched}}' needs a 'when' that it is the match of",
            id="a match without a condition",
        ),
        pytest.param("steps:\n- say: a\nclosing: {}", "line 3, field 'say'", "is missing", id="closing"),
    ],
)
def test_a_script_that_does_not_fit_is_refused_with_line_field_and_reason(
    text: str, place: str, reason: str
) -> None:
    assert problem(text) == f"x.yaml, {place}: {reason}"


def test_an_error_code_that_does_not_exist_is_refused_with_those_that_do() -> None:
    told = problem("steps:\n- say: a\n  when: {error_code: TOOL_TIMOUT}")
    assert told.startswith(
        "x.yaml, line 3, field 'when': there is no error_code 'TOOL_TIMOUT'; there are INPUT"
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param("bash: {command: ls}", ("bash", {"command": "ls"}, None), id="params"),
        pytest.param("bash:", ("bash", NOTHING, None), id="no params"),
        pytest.param("bash: 'ls -la'", ("bash", "ls -la", None), id="params that are text"),
        pytest.param("{bash: {command: ls}, as: files}", ("bash", {"command": "ls"}, "files"), id="a name"),
    ],
)
def test_a_call_is_a_tool_with_its_params_and_perhaps_a_name(call: str, expected: object) -> None:
    scripted = parse_script(f"steps:\n- call:\n  - {call}\n".encode(), file="x.yaml").steps[0].call[0]
    assert (scripted.tool, scripted.params, scripted.name) == expected
    assert isinstance(scripted, ScriptedCall)


def test_a_script_is_read_from_its_file_and_knows_where_its_steps_stand(tmp_path: Path) -> None:
    path = tmp_path / "talk.yaml"
    path.write_text("# to begin with\nsteps:\n  - say: hello\n")
    script = load_script(path)
    assert (script.steps[0].say, script.where("steps", 0)) == ("hello", f"{path}, line 3")


def test_a_script_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "talk.yaml"
    path.write_text("steps: [{say: hello}]")
    load_script(path)
    path.write_text("steps: [{say: hullo}]")
    assert load_script(path).steps[0].say == "hullo"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(None, "the script '{path}' cannot be read: No such file or directory", id="no file"),
        pytest.param(b"#" * 300_000, "the script '{path}' is larger than 256KB", id="a large file"),
        pytest.param(b"a: 1\nb: \xff", "{path}, line 2: not UTF-8", id="no text"),
        pytest.param(b"", "{path}, line 1: there is nothing in it", id="an empty file"),
    ],
)
def test_a_file_that_holds_no_script_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "talk.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelRefusedError) as caught:
        load_script(path)
    assert str(caught.value) == reason.format(path=path)


def test_a_directory_is_no_script(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read: Is a directory"):
        load_script(tmp_path)
