import pytest
from pydantic import JsonValue

from surefoot.secret_reference import referenced, with_secrets

SECRETS = {"KEY": "k1", "db-password": "p/w", "tls.key": "t"}


@pytest.mark.parametrize(
    ("value", "names", "given"),
    [
        pytest.param("secret://KEY", ("KEY",), "k1", id="a whole value"),
        pytest.param("Bearer secret://KEY", ("KEY",), "Bearer k1", id="within a longer text"),
        pytest.param(
            "me:secret://db-password@host/secret://KEY.",
            ("db-password", "KEY"),
            "me:p/w@host/k1.",
            id="two, with what ends a name behind them",
        ),
        pytest.param(
            {"a": [{"b": "secret://tls.key"}, 1, None]},
            ("tls.key",),
            {"a": [{"b": "t"}, 1, None]},
            id="nested",
        ),
        pytest.param({"secret://KEY": True}, (), {"secret://KEY": True}, id="not in a key of an object"),
        pytest.param("secret://OTHER", ("OTHER",), "secret://OTHER", id="one that is not there"),
        pytest.param("secret:// and secrets://KEY", (), "secret:// and secrets://KEY", id="no reference"),
    ],
)
def test_references_are_found_and_replaced(
    value: JsonValue, names: tuple[str, ...], given: JsonValue
) -> None:
    assert (referenced(value), with_secrets(value, SECRETS)) == (names, given)
