import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, PayloadConverter

from surefoot.outcome import ToolSuccess
from surefoot.strict_json import (
    NotStrictJsonError,
    encode_json,
    is_unicode,
    json_bytes,
    json_type,
    more_values_than,
    most_values_of,
    strict_json,
)

MIB = 1024 * 1024
EMPTY_OBJECT: JsonValue = {}


def nested(depth: int, *, opening: str = "[", inner: str = "", closing: str = "]") -> str:
    return opening * depth + inner + closing * depth


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(" \t\r\n{} \t\r\n", EMPTY_OBJECT, id="white space around the value"),
        pytest.param(
            '{"a": [1, 1.5, "é", true, false, null]}', {"a": [1, 1.5, "é", True, False, None]}, id="all"
        ),
        pytest.param('"é"'.encode(), "é", id="UTF-8 bytes"),
        pytest.param('{"": {"": 1}}', {"": {"": 1}}, id="the same key on two levels"),
        pytest.param('[{"a": 1}, {"a": 1}]', [{"a": 1}, {"a": 1}], id="the same key in two objects"),
        pytest.param(
            '{"a": 1, "A": 2, "\\u00e4": 3}', {"a": 1, "A": 2, "ä": 3}, id="keys that only resemble"
        ),
        pytest.param('"\\ud83d\\ude00"', "😀", id="an escaped pair of surrogates"),
        pytest.param('"\\u0000"', "\0", id="an escaped NUL"),
        pytest.param('"a\ufeffb"', "a\ufeffb", id="a byte order mark inside a string"),
        pytest.param('"\u2028\uffff"', "\u2028\uffff", id="a line separator and a non-character"),
        pytest.param("-0", 0, id="minus zero"),
        pytest.param("-0.0", -0.0, id="minus zero as a number"),
        pytest.param("5e-324", 5e-324, id="the smallest number"),
        pytest.param("1e-400", 0.0, id="a number below the smallest"),
        pytest.param("1.7976931348623157e308", 1.7976931348623157e308, id="the largest number"),
        pytest.param("1" * 4_300, int("1" * 4_300), id="an integer of 4,300 digits"),
        pytest.param("-" + "1" * 4_300, -int("1" * 4_300), id="a negative integer of 4,300 digits"),
        pytest.param("0." + "1" * MIB, 0.1111111111111111, id="a fraction of a million digits"),
    ],
)
def test_one_json_value_is_read(text: str | bytes, value: JsonValue) -> None:
    assert encode_json(strict_json(text)) == encode_json(value)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_nesting_of_a_hundred_is_read_and_one_more_is_not(opening: str) -> None:
    closing = opening.replace('"a":', "")[::-1].translate(str.maketrans("[{", "]}"))
    depth = 100 // len(closing)
    read = strict_json(nested(depth, opening=opening, inner="1", closing=closing))
    with pytest.raises(NotStrictJsonError, match="nested deeper than 100"):
        strict_json(f"[{encode_json(read)}]")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param(b"", "empty", id="no bytes"),
        pytest.param(" \t\r\n", "empty", id="only white space"),
        pytest.param("\ufeff{}", "starts with a byte order mark", id="a byte order mark"),
        pytest.param(b"\xef\xbb\xbf{}", "starts with a byte order mark", id="a byte order mark in bytes"),
        pytest.param('"a"'.encode("utf-16"), "not UTF-8 at byte 0", id="UTF-16"),
        pytest.param('"a"'.encode("utf-16-be"), "Expecting value at character 0", id="UTF-16 without a mark"),
        pytest.param(b'"caf\xe9"', "not UTF-8 at byte 4", id="Latin-1"),
        pytest.param(b'"\xed\xa0\x80"', "not UTF-8 at byte 1", id="a surrogate as bytes"),
        pytest.param(b'"\xc0\x80"', "not UTF-8 at byte 1", id="an overlong NUL"),
        pytest.param("\0", "Expecting value at character 0", id="a NUL"),
        pytest.param("{}\0", "Extra data at character 2", id="a NUL after the value"),
        pytest.param('"\0"', "Invalid control character at character 1", id="a NUL in a string"),
        pytest.param('"a\nb"', "Invalid control character at character 2", id="a line break in a string"),
        pytest.param("not valid json{{{", "Expecting value at character 0", id="prose"),
        pytest.param("{", "Expecting property name enclosed in double quotes at character 1", id="half"),
        pytest.param('"abc', "Unterminated string starting at character 0", id="half a string"),
        pytest.param('"\\', "Unterminated string starting at character 0", id="half an escape"),
        pytest.param('"\\u12"', "Invalid \\uXXXX escape at character 2", id="half a code point"),
        pytest.param('"\\u+123"', "Invalid \\uXXXX escape at character 2", id="a sign in a code point"),
        pytest.param('"\\x41"', "Invalid \\escape at character 1", id="an escape of another language"),
        pytest.param("{} {}", "Extra data at character 3", id="two values"),
        pytest.param('{"a": 1}\ndone', "Extra data at character 9", id="text after the value"),
        pytest.param(
            "{'a': 1}", "Expecting property name enclosed in double quotes at character 1", id="Python"
        ),
        pytest.param("01", "Extra data at character 1", id="a leading zero"),
        pytest.param("+1", "Expecting value at character 0", id="a plus sign"),
        pytest.param("1.", "Extra data at character 1", id="a point without digits"),
        pytest.param("-", "Expecting value at character 0", id="a minus alone"),
        pytest.param("\u0661", "Expecting value at character 0", id="a digit of another script"),
        pytest.param("\u00a0 1", "Expecting value at character 0", id="a no-break space"),
        pytest.param("NaN", "NaN is not JSON", id="NaN"),
        pytest.param('{"a": [1, NaN]}', "NaN is not JSON", id="NaN in an array"),
        pytest.param("Infinity", "Infinity is not JSON", id="Infinity"),
        pytest.param("[-Infinity]", "-Infinity is not JSON", id="minus Infinity"),
        pytest.param("1e999", "a number that is too large", id="a number that overflows"),
        pytest.param("[-1E+400]", "a number that is too large", id="a number that overflows downwards"),
        pytest.param("1" * 400 + ".5", "a number that is too large", id="digits that overflow"),
        pytest.param("1e" + "9" * 5_000, "a number that is too large", id="an endless exponent"),
        pytest.param("1" * 4_301, "an integer of more than 4,300 digits", id="4,301 digits"),
        pytest.param("-" + "1" * 4_301, "an integer of more than 4,300 digits", id="minus 4,301 digits"),
        pytest.param('"\\ud800"', "a lone surrogate in a string", id="a lone surrogate"),
        pytest.param('"\\ude00\\ud83d"', "a lone surrogate in a string", id="a pair the wrong way round"),
        pytest.param('{"\\udc00": 1}', "a lone surrogate in a string", id="a lone surrogate in a key"),
        pytest.param(
            '[[{"a": ["\\ud800"]}]]', "a lone surrogate in a string", id="a lone surrogate deep down"
        ),
        pytest.param('"\ud800"', "a lone surrogate in a string", id="a lone surrogate without an escape"),
        pytest.param("\ud800", "Expecting value at character 0", id="a lone surrogate outside a string"),
        pytest.param('{"a": 1, "a": 1}', "the key 'a' stands twice in one object", id="a key twice"),
        pytest.param(
            '[{"b": {"a": 1, "\\u0061": 2}}]', "the key 'a' stands twice in one object", id="deep down"
        ),
        pytest.param(
            '{"\\ud800": 1, "\\ud800": 2}',
            "the key '\\ud800' stands twice in one object",
            id="a bad key twice",
        ),
        pytest.param("[" * 990 + "]" * 990, "nested deeper than 100", id="what json.loads still reads"),
        pytest.param("[" * 5_000 + "]" * 5_000, "nested deeper than 100", id="what json.loads cannot read"),
    ],
)
def test_everything_else_is_refused_with_the_first_thing_that_is_wrong(
    text: str | bytes, reason: str
) -> None:
    with pytest.raises(NotStrictJsonError) as refused:
        strict_json(text)
    assert str(refused.value) == reason


def many_keys(*, last: str) -> str:
    keys = ",".join(f'"{number}":0' for number in range(100_000))
    return f'{{{keys},"{last}":1,"{last}":2}}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("[" * 500_000, "nested deeper than 100", id="arrays that never end"),
        pytest.param('{"a":' * 200_000, "nested deeper than 100", id="objects that never end"),
        pytest.param(nested(500_000), "nested deeper than 100", id="arrays in arrays"),
        pytest.param("1" * MIB, "an integer of more than 4,300 digits", id="digits"),
        pytest.param("1" * MIB + ".5", "a number that is too large", id="digits before a point"),
        pytest.param("1e" + "9" * MIB, "a number that is too large", id="digits of an exponent"),
        pytest.param('"' + '\\"' * (MIB // 2), "Unterminated string starting at character 0", id="quotes"),
        pytest.param(
            many_keys(last="x"), "the key 'x' stands twice in one object", id="keys, the last one twice"
        ),
        pytest.param(
            "{" + '"a":1,' * 150_000 + '"a":1}',
            "the key 'a' stands twice in one object",
            id="one key many times",
        ),
        pytest.param(
            f'{{"{"k" * (MIB // 2)}": 1, "{"k" * (MIB // 2)}": 2}}',
            f"the key '{'k' * 50}' stands twice in one object",
            id="a huge key twice",
        ),
        pytest.param("[" + "0," * (MIB // 2), f"Expecting value at character {MIB + 1}", id="half an array"),
        pytest.param(b"\xff" * MIB, "not UTF-8 at byte 0", id="bytes that are no text"),
        pytest.param("\0" * MIB, "Expecting value at character 0", id="NULs"),
    ],
)
def test_a_mebibyte_of_malice_is_refused_at_once(text: str | bytes, reason: str) -> None:
    with pytest.raises(NotStrictJsonError) as refused:
        strict_json(text)
    assert str(refused.value) == reason


LEAVES = st.sampled_from(
    [
        *("0", "-0", "1", "1.0", "-0.0", "5e-324", "1e-999", "1e999", "-1e999", "1e308", "1E+22", "1e400"),
        *(
            "9" * 4_300,
            "-" + "9" * 4_300,
            "9" * 4_301,
            "-" + "9" * 4_301,
            "9007199254740993",
            "0." + "3" * 500,
        ),
        *("true", "false", "null", "NaN", "Infinity", "-Infinity", "nul", "-", "01", ""),
        *('""', '"\\ud800"', '"\\udc00"', '"\\ud83d\\ude00"', '"\\u0000"', '"\ufeff"', '"\ud800"', '"\\x"'),
        *(
            '"\x7f\x80\u2028"',
            '"\uffff\U0010ffff"',
            '"' + "é" * 5_000 + '"',
            "\ufeff",
            "\0",
            "[]",
            "{}",
            "[[]]",
        ),
        *("[" * 99 + "]" * 99, "[" * 100 + "]" * 100, '{"a":' * 60 + "1" + "}" * 60),
    ]
)
STRINGS = st.text(max_size=20).map(lambda text: json.dumps(text, ensure_ascii=False))
NUMBERS = st.one_of(st.integers().map(str), st.floats().map(json.dumps))
KEYS = st.sampled_from(['"a"', '"b"', '""', '"\\u0061"', '"\\ud800"', "a", '"\0"'])


def members(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(KEYS, values).map(":".join)
    return st.lists(pairs, max_size=3).map(lambda some: "{" + ",".join(some) + "}")


def items(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(values, max_size=3).map(lambda some: "[" + ",".join(some) + "]")


VALUES = st.recursive(
    st.one_of(LEAVES, STRINGS, NUMBERS), lambda inner: st.one_of(items(inner), members(inner)), max_leaves=12
)
AROUND = st.sampled_from(["", "", "", " ", "\n", "\ufeff", "\0", "x", "{}", "\u00a0"])
HOSTILE_TEXTS = st.one_of(st.tuples(AROUND, VALUES, AROUND).map("".join), st.text())


def read(text: str | bytes) -> tuple[JsonValue, ...]:
    """The value alone, or nothing for a text that is refused; any other error passes through."""
    try:
        return (strict_json(text),)
    except NotStrictJsonError:
        return ()


@pytest.mark.parametrize(
    "converter",
    [
        pytest.param(pydantic_data_converter.payload_converter, id="the pydantic payload converter"),
        pytest.param(DataConverter.default.payload_converter, id="the default payload converter"),
    ],
)
@given(text=HOSTILE_TEXTS)
@example(text="[" * 100 + "]" * 100)
def test_whatever_is_read_survives_a_payload(converter: PayloadConverter, text: str) -> None:
    for value in read(text):
        arrived = converter.from_payload(converter.to_payload(value))
        # Temporal's default converter sorts keys.
        assert json.dumps(arrived, sort_keys=True) == json.dumps(value, sort_keys=True)


@given(text=HOSTILE_TEXTS)
@example(text="[" * 100 + "]" * 100)
def test_whatever_is_read_survives_a_payload_inside_a_model(text: str) -> None:
    converter = pydantic_data_converter.payload_converter
    for value in read(text):
        sent = ToolSuccess(tool="any", result=value)
        arrived = converter.from_payload(converter.to_payload(sent), ToolSuccess)
        assert encode_json(arrived.result) == encode_json(value)


@given(text=HOSTILE_TEXTS)
def test_whatever_is_read_is_read_again_from_its_own_encoding(text: str) -> None:
    for value in read(text):
        encoded = encode_json(value)
        assert encode_json(strict_json(encoded.encode())) == encoded


@given(text=st.one_of(st.text(), HOSTILE_TEXTS))
def test_a_text_and_its_bytes_read_alike(text: str) -> None:
    if is_unicode(text):
        assert list(map(encode_json, read(text))) == list(map(encode_json, read(text.encode())))


@given(data=st.binary())
def test_no_bytes_raise_anything_but_a_refusal(data: bytes) -> None:
    assert len(read(data)) <= 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(
            {"b": 1, "a": [None, True]}, '{"b": 1, "a": [null, true]}', id="in the order of its keys"
        ),
        pytest.param("é😀", '"é😀"', id="without ASCII escapes"),
        pytest.param('"\\\n\0', '"\\"\\\\\\n\\u0000"', id="with the escapes that JSON demands"),
    ],
)
def test_a_value_is_encoded_in_one_form(value: JsonValue, text: str) -> None:
    assert encode_json(value) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_carry_is_not_encoded(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_json({"a": number})


@pytest.mark.parametrize(
    ("value", "size_bytes"),
    [
        pytest.param("é", 4, id="bytes of UTF-8, and the quotes"),
        pytest.param({"a": [1, 2]}, 13, id="with the spaces of our form"),
        pytest.param("\ud800", 5, id="a lone surrogate counts as three"),
    ],
)
def test_a_size_is_measured_in_the_same_form(value: JsonValue, size_bytes: int) -> None:
    assert json_bytes(value) == size_bytes


@pytest.mark.parametrize(
    ("value", "name"),
    [
        pytest.param(EMPTY_OBJECT, "object", id="object"),
        pytest.param([], "array", id="array"),
        pytest.param("", "string", id="string"),
        pytest.param(True, "boolean", id="boolean"),
        pytest.param(1, "integer", id="integer"),
        pytest.param(1.0, "number", id="number"),
        pytest.param(None, "null", id="null"),
    ],
)
def test_a_value_is_named_by_its_json_type(value: JsonValue, name: str) -> None:
    assert json_type(value) == name


@pytest.mark.parametrize(
    ("value", "values"),
    [
        pytest.param(None, 1, id="one"),
        pytest.param([], 1, id="an empty array"),
        pytest.param([1, "a", [None]], 5, id="an array and its items"),
        pytest.param({"a": 1, "b": {"c": None}}, 4, id="an object and its values, not its keys"),
    ],
)
def test_the_values_of_a_value_are_counted(value: JsonValue, values: int) -> None:
    assert [more_values_than(limit, value) for limit in (values - 1, values)] == [True, False]


@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param(b"1", 1, id="one"),
        pytest.param(b"[[],[]]", 5, id="arrays"),
        pytest.param(b'{"a":1,"b":2}', 3, id="an object and its values"),
        pytest.param(b'"1,2,[3,{\\",4"', 1, id="a string that looks like more"),
    ],
)
def test_values_are_guessed_from_above_without_parsing(text: bytes, most: int) -> None:
    assert most_values_of(text) == most
