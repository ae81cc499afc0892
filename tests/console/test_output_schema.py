from pathlib import Path

import pytest

from console.errors import CommandError
from console.output_schema import read_output_schema
from tests.console.command import MODEL, Surefoot


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"\xff", "is not UTF-8 text: byte 0 is not", id="bytes"),
        pytest.param(b"{", "is not JSON: Expecting property name", id="half an object"),
        pytest.param(b'{"a": 1, "a": 2}', "is not JSON: the key 'a' stands twice", id="a key twice"),
        pytest.param(b"[]", "is refused: it must be a JSON object, and is array", id="no object"),
        pytest.param(b'{"type": "objekt"}', 'is refused: type: "objekt" is not valid', id="no schema"),
        pytest.param(
            b'{"$ref": "https://example.com/a.json"}', "is refused: ", id="a schema that is elsewhere"
        ),
        pytest.param(
            b'{"properties": {"tool_calls": {}}}',
            "is refused: it names the fields of a tool call, and with the prompted protocol the two look",
            id="what looks like a call",
        ),
        pytest.param(
            b'{"title": "' + b"t" * 70_000 + b'"}', "is refused: it is 70,013 bytes", id="too large"
        ),
        pytest.param(b" " * 300_000 + b"{}", "is above the limit of 256KB", id="far too large"),
    ],
)
def test_an_output_schema_that_cannot_be_used_is_refused_with_its_file_and_the_reason(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    file = tmp_path / "answer.json"
    file.write_bytes(content)

    with pytest.raises(CommandError) as refusal:
        read_output_schema(file, "prompted")

    assert refusal.value.message.startswith(f"the output schema {file} {sentence}")


def test_a_schema_of_calls_is_told_from_them_by_the_native_protocol(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text('{\n  "properties": {"tool_calls": {}}\n}\n')

    assert read_output_schema(file, "native") == {"properties": {"tool_calls": {}}}


def test_the_command_starts_nothing_without_a_schema_that_it_can_read(usable: Surefoot) -> None:
    assert usable.refuses("run", "Go on.", *MODEL, "--output-schema", "nowhere.json") == (
        "the output schema nowhere.json cannot be read: No such file or directory"
    )
