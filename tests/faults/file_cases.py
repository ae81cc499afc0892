"""The rows of the fault suite for the file tools: each of them works, and says what did not."""

from pydantic import JsonValue

from tests.faults.case import Case, Failure, Like, Success

_NOTHING: dict[str, dict[str, object]] = {
    "read_file": {
        "content": "",
        "first_line": None,
        "last_line": None,
        "total_lines": None,
        "truncated": False,
    },
    "write_file": {"action": "", "bytes": None},
    "edit_file": {"replacements": None, "snippet": ""},
    "list_dir": {"entries": [], "total": None, "truncated": False},
    "search": {"matches": [], "truncated": False},
}


def _case(
    name: str, tool: str, sees: Success | Failure, params: dict[str, JsonValue], beforehand: str | None
) -> Case:
    return Case(
        f"{tool} {name}",
        None,
        sees,
        params,
        manifest=None,
        called=tool,
        beforehand=beforehand,
        side_effects=0,
    )


def _works(
    name: str,
    tool: str,
    params: dict[str, JsonValue],
    fields: dict[str, object],
    *,
    beforehand: str | None = None,
) -> Case:
    result = {"success": True, "error": None, "path": params["path"], **fields}
    return _case(name, tool, Success(result), params, beforehand)


def _refuses(
    name: str,
    tool: str,
    params: dict[str, JsonValue],
    error: str | Like,
    *,
    code: str = "invalid_input",
    beforehand: str | None = None,
) -> Case:
    told = {"success": False, "error": error, "error_code": code, "path": params.get("path", ".")}
    return _case(name, tool, Success({**told, **_NOTHING[tool]}), params, beforehand)


FILES = (
    _refuses("finds nothing", "read_file", {"path": "gone"}, "there is no 'gone'", code="not_found"),
    _refuses(
        "is led outside by a link",
        "read_file",
        {"path": "out/etc/passwd"},
        "'out/etc/passwd' leads outside of the working directory",
        beforehand="ln -s / ../out",
    ),
    _refuses(
        "is given a pipe that nobody writes to",
        "read_file",
        {"path": "pipe"},
        "'pipe' is no file but a fifo",
        beforehand="mkfifo ../pipe",
    ),
    _refuses(
        "is given what is no text",
        "read_file",
        {"path": "binary"},
        "'binary' is a binary file of 2 bytes",
        beforehand="printf 'a\\0' > ../binary",
    ),
    _works(
        "creates directories",
        "write_file",
        {"path": "new/directory/file", "content": "a\n"},
        {"action": "created", "bytes": 2},
    ),
    _refuses(
        "is given a directory", "write_file", {"path": "tools", "content": ""}, "'tools' is a directory"
    ),
    _refuses(
        "is led outside",
        "write_file",
        {"path": "../beside", "content": ""},
        "'../beside' leads outside of the working directory",
    ),
    _works(
        "replaces one text",
        "edit_file",
        {"path": "edited", "old_string": "b\n", "new_string": "c\n"},
        {"replacements": 1, "snippet": "     1\ta\n     2\tc"},
        beforehand="printf 'a\\nb\\n' > ../edited",
    ),
    _refuses(
        "finds a text twice",
        "edit_file",
        {"path": "twice", "old_string": "a", "new_string": "b"},
        Like("old_string is in the file 2 times, on lines 1, 3: .*"),
        beforehand="printf 'a\\nb\\na\\n' > ../twice",
    ),
    _refuses("is given a file", "list_dir", {"path": "script.yaml"}, "'script.yaml' is no directory"),
    _refuses("is given half a pattern", "search", {"pattern": "(a"}, Like("(the pattern|ripgrep) .*")),
    _case(
        "is given a line before the first",
        "read_file",
        Failure(
            "INVALID_PARAMS",
            None,
            "Tool 'x' was not called, its params are invalid: offset: 0 is less than the minimum of 1",
        ),
        {"path": "edited", "offset": 0},
        None,
    ),
)
