from decimal import Decimal
from pathlib import Path

import pytest

from activities.price_table import ModelFacts, PriceTable, PriceTableError, load_price_table

TOML = """
["openai-chat:mine"]
input = 0.1
output = 4
cache_read = 0.025
context_window = 128_000

[known]
context_window = 8000
"""
JSON = """{
  "openai-chat:mine": {"input": 0.1, "output": 4, "cache_read": 0.025, "context_window": 128000},
  "known": {"context_window": 8000}
}"""
MINE = ModelFacts(
    input=Decimal("0.1"), output=Decimal(4), cache_read=Decimal("0.025"), context_window=128_000
)
TABLE = PriceTable({"openai-chat:mine": MINE, "known": ModelFacts(context_window=8_000)})


@pytest.mark.parametrize(
    ("name", "text", "table"),
    [
        pytest.param("prices.toml", TOML, TABLE, id="TOML"),
        pytest.param("prices.json", JSON, TABLE, id="JSON"),
        pytest.param("PRICES.JSON", "{}", PriceTable(), id="empty JSON"),
        pytest.param("prices.toml", "", PriceTable(), id="empty TOML"),
    ],
)
def test_a_table_is_read_as_its_name_says(tmp_path: Path, name: str, text: str, table: PriceTable) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert load_price_table(path) == table


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        pytest.param("p.yaml", "", "must end in .json or .toml", id="another format"),
        pytest.param("p.json", "{", "cannot be read: ", id="half of it"),
        pytest.param("p.json", '{"m": {}, "m": {}}', "cannot be read: ", id="a name twice"),
        pytest.param("p.json", "[]", "as a whole: Input should be a valid dictionary", id="a list"),
        pytest.param("p.toml", "[m", "cannot be read: ", id="half a line of TOML"),
        pytest.param("p.toml", "m = 1", "model 'm': Input should be a valid dictionary", id="no model"),
        pytest.param("p.toml", "[m]\ninput = 1", "a price has both 'input' and 'output'", id="half a price"),
        pytest.param("p.toml", "[m]\ncache_read = 1", "has both 'input' and 'output'", id="only cached"),
        pytest.param(
            "p.toml",
            "[m]\ninput = '1'",
            "model 'm', field 'input': it must be a number of dollars",
            id="text",
        ),
        pytest.param("p.toml", "[m]\ninput = nan\noutput = 1", "field 'input': ", id="no number"),
        pytest.param("p.toml", "[m]\ninput = -1\noutput = 1", "field 'input': ", id="below zero"),
        pytest.param("p.toml", "[m]\ncontext_window = 0", "field 'context_window': ", id="no window"),
        pytest.param("p.toml", "[m]\ncontext_window = 1.5", "field 'context_window': ", id="half a token"),
        pytest.param(
            "p.toml", "[m]\ninputs = 1", "field 'inputs': there is no such field; the fields are", id="x"
        ),
    ],
)
def test_a_table_that_does_not_fit_is_one_sentence(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(PriceTableError) as caught:
        load_price_table(path)
    said = str(caught.value)
    assert (f"the price table '{path}'" in said, complaint in said, "\n" in said) == (True, True, False)


def test_a_table_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(PriceTableError, match="cannot be read: No such file"):
        load_price_table(tmp_path / "prices.toml")


def test_bytes_that_are_no_text_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(PriceTableError, match="cannot be read"):
        load_price_table(path)
