import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.param_path import ParamPath, read_path, written_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("key", ("key",), id="a parameter"),
        pytest.param("options.key", ("options", "key"), id="one within another"),
        pytest.param("*.key", ("*", "key"), id="any name"),
        pytest.param(r"app\.key", ("app.key",), id="a name with a dot"),
    ],
)
def test_a_path_reads_as_steps(text: str, path: ParamPath) -> None:
    assert read_path(text) == path


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4))
def test_every_path_survives_being_written(steps: list[str]) -> None:
    assert read_path(written_path(tuple(steps))) == tuple(steps)
